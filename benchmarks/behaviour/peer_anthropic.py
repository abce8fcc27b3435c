"""The anthropic SDK: its message stream, as its README shows it."""

from __future__ import annotations

from anthropic import Anthropic
from seen import Call, Cell, Seen, serve

HOW = {
    "anthropic-messages": "`client.messages.stream()`, then `get_final_message()`; a `tool_use` block runs if "
    "`stop_reason` is `tool_use`, the rule of the SDK's own tool runner"
}


def ask(cell: Cell, seen: Seen) -> None:
    client = Anthropic(api_key="none", base_url=cell.url, max_retries=0, timeout=10)
    messages = [{"role": "user", "content": "Hi"}]
    with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:  # type: ignore[arg-type]
        message = stream.get_final_message()
    seen.finish = message.stop_reason
    for block in message.content:
        if block.type == "tool_use":
            runs = message.stop_reason == "tool_use"
            why = "" if runs else f"stop_reason {message.stop_reason}"
            seen.calls.append(Call(block.id, block.name, block.input, "runs" if runs else "marked", why))


if __name__ == "__main__":
    serve(ask, ("anthropic",), HOW)
