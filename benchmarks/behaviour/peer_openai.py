"""The openai SDK: its accumulating streams, as its README shows them."""

from __future__ import annotations

from typing import Any

from openai import OpenAI
from seen import Call, Cell, Seen, fate_of_text, serve

HOW = {
    "openai-responses": "`client.responses.stream()`, read to its end, then `get_final_response()`; a call "
    "of `response.output` runs if it and the response are `completed`, as in the SDK's own tool runner, "
    "and `json.loads` reads it",
    "openai-chat": "`client.chat.completions.stream()`, then `get_final_completion()`; a call of "
    "`message.tool_calls` runs if `json.loads` reads it, as in OpenAI's guide",
}


def responses(client: OpenAI, seen: Seen) -> None:
    with client.responses.stream(model="m", input="Hi") as stream:
        for _ in stream:
            pass
        response = stream.get_final_response()
    seen.finish = response.status
    for item in response.output:
        if item.type == "function_call":
            whole = item.status in (None, "completed") and response.status == "completed"
            fate = fate_of_text(item.arguments) if whole else "marked"
            why = "" if whole else f"item {item.status}, response {response.status}"
            seen.calls.append(Call(item.call_id, item.name, item.arguments, fate, why))


def chat(client: OpenAI, seen: Seen) -> None:
    messages: list[Any] = [{"role": "user", "content": "Hi"}]
    with client.chat.completions.stream(model="m", messages=messages) as stream:
        for _ in stream:
            pass
        completion = stream.get_final_completion()
    choice = completion.choices[0]
    seen.finish = choice.finish_reason
    for call in choice.message.tool_calls or []:
        arguments = call.function.arguments
        seen.calls.append(Call(call.id, call.function.name, arguments, fate_of_text(arguments)))


def ask(cell: Cell, seen: Seen) -> None:
    client = OpenAI(api_key="none", base_url=cell.url, max_retries=0, timeout=10)
    (responses if cell.protocol == "openai-responses" else chat)(client, seen)


if __name__ == "__main__":
    serve(ask, ("openai",), HOW)
