"""The anthropic SDK: its message stream, as its README shows it."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic, AnthropicBedrock
from seen import Call, Cell, Seen, serve

HOW = {
    "anthropic-messages": "`client.messages.stream()`, then `get_final_message()`; a `tool_use` block runs "
    "if `stop_reason` is `tool_use`, the rule of the SDK's own tool runner",
    "bedrock-invoke": "the same with `AnthropicBedrock`",
}


def client(cell: Cell) -> Anthropic | AnthropicBedrock:
    shared: dict[str, Any] = {"base_url": cell.url, "max_retries": 0, "timeout": 10}
    if cell.protocol == "bedrock-invoke":
        return AnthropicBedrock(
            aws_access_key="none", aws_secret_key="none", aws_region="us-east-1", **shared
        )
    return Anthropic(api_key="none", **shared)


def ask(cell: Cell, seen: Seen) -> None:
    messages: list[Any] = [{"role": "user", "content": "Hi"}]
    with client(cell).messages.stream(model="m", max_tokens=9, messages=messages) as stream:
        message = stream.get_final_message()
    seen.finish = message.stop_reason
    for block in message.content:
        if block.type == "tool_use":
            runs = message.stop_reason == "tool_use"
            why = "" if runs else f"stop_reason {message.stop_reason}"
            seen.calls.append(Call(block.id, block.name, block.input, "runs" if runs else "marked", why))


if __name__ == "__main__":
    serve(ask, ("anthropic", "boto3"), HOW)
