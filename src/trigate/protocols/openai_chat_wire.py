"""The JSON of chat completion chunks, as far as it matters here: shapes, usage, reasoning, arguments.

Source: docs/protocols/openai-chat.md. Members that are not named here are ignored.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trigate.errors import StructureError
from trigate.framing import Frame
from trigate.protocols.wire import as_json_text, count_of, decode
from trigate.response import Usage

#: What servers send where they have no id or no name.
ABSENT = ("", "null")
#: What the member `object` of a chunk begins with.
OBJECTS = ("chat.completion", "text_completion")
#: Parts of a content list that carry neither text nor reasoning (Mistral).
SILENT_PARTS = frozenset(
    {
        "reference",
        "tool_reference",
        "tool_file",
        "document_url",
        "image_url",
        "input_audio",
        "audio_url",
        "file",
    }
)


class Function(msgspec.Struct):
    name: str | None = None
    arguments: Any = None


class Custom(msgspec.Struct):
    name: str | None = None
    input: str | None = None


class Fragment(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: Function | None = None
    custom: Custom | None = None
    extra_content: Any = None


class Delta(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    tool_calls: list[Fragment] | None = None
    function_call: Function | None = None
    extra_content: Any = None


class Choice(msgspec.Struct):
    index: int | None = None
    delta: Delta | None = None
    text: str | None = None
    message: Any = None
    finish_reason: str | None = None
    native_finish_reason: Any = None
    error: Any = None
    usage: Any = None


class Chunk(msgspec.Struct):
    id: Any = None
    object: Any = None
    type: Any = None
    model: Any = None
    created: Any = None
    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None
    detail: Any = None
    x_groq: Any = None
    prompt_filter_results: Any = None

    @property
    def is_plain(self) -> bool:
        """Whether it is what a chunk mostly is: choices, and nothing that may tell of a failure."""
        return bool(self.choices) and not (
            self.error or self.type is not None or self.x_groq is not None or self.object == "error"
        )

    @property
    def is_chunk(self) -> bool:
        """Whether it is a piece of a completion, for all that it may hold nothing."""
        return self.choices is not None or str(self.object).startswith(OBJECTS) or self.object == ""

    @property
    def has_something(self) -> bool:
        """Whether it says anything at all: a failure that Ollama's /v1 could not tell looks like this."""
        is_filter = self.prompt_filter_results is not None
        return bool(self.choices or self.id or self.usage or self.x_groq or is_filter)

    @property
    def failure(self) -> Any:
        """The provider's error, in whatever shape it came; None for none."""
        if self.error:
            return {"error": self.error}
        if self.object == "error" or self.type == "error" or (self.detail and self.choices is None):
            return ...
        if isinstance(self.x_groq, dict) and self.x_groq.get("error"):
            return {"error": self.x_groq["error"]}
        return None


class _Choices(msgspec.Struct):
    choices: list[msgspec.Raw] | None = None


class _Delta(msgspec.Struct):
    delta: msgspec.Raw = msgspec.Raw()


class _Calls(msgspec.Struct):
    tool_calls: list[msgspec.Raw] | None = None
    function_call: msgspec.Raw = msgspec.Raw()


class _Body(msgspec.Struct):
    function: msgspec.Raw = msgspec.Raw()


class _Arguments(msgspec.Struct):
    arguments: msgspec.Raw = msgspec.Raw()


def present(value: str | None) -> str | None:
    """An id or a name, None for the values that say that there is none."""
    return None if value in ABSENT else value


def arguments_text(
    value: Any, data: bytes, place: tuple[int, int | None], frame: Frame
) -> tuple[str | None, bool]:
    """One piece of arguments, and whether it came as a string; an object is given as its JSON text.

    place: the position of the choice in the chunk, and of the fragment in its delta (None: `function_call`).
    A decoded object would have lost repeated member names, so its text is taken from the chunk itself.
    """
    if value is None or isinstance(value, str):
        return value, True
    choice, fragment = place
    delta = decode((decode(data, _Choices, frame).choices or [])[choice], _Delta, frame).delta
    calls = decode(delta, _Calls, frame)
    if fragment is None:
        body = calls.function_call
    else:
        body = decode((calls.tool_calls or [])[fragment], _Body, frame).function
    return as_json_text(decode(body, _Arguments, frame).arguments)


def reasoning_of(delta: Delta) -> tuple[str, str]:
    """The reasoning text of a delta and the member that it came in; servers repeat it in a second member."""
    for name, value in (("reasoning_content", delta.reasoning_content), ("reasoning", delta.reasoning)):
        if isinstance(value, str) and value:
            return value, name
    if isinstance(delta.reasoning_details, list):
        told = [_told(detail) for detail in delta.reasoning_details if isinstance(detail, dict)]
        return "".join(told), "reasoning_details"
    return "", ""


def _told(detail: dict[str, Any]) -> str:
    for name in ("text", "summary"):
        value = detail.get(name)
        if isinstance(value, str):
            return value
    return ""


def part_text(part: dict[str, Any], frame: Frame) -> str:
    """The text of one part of a content list: `text`, or the parts inside of `thinking`."""
    value = part.get("thinking") if part.get("type") == "thinking" else part.get("text")
    if isinstance(value, list):
        return "".join(part_text(inner, frame) for inner in value if isinstance(inner, dict))
    if value is None or isinstance(value, str):
        return value or ""
    raise StructureError(
        f"the event at byte {frame.start} has a content part whose text is no string",
        code="wrong_shape",
        offset=frame.start,
    )


def usage_of(raw: dict[str, Any]) -> Usage:
    cached = count_of(raw.get("prompt_tokens_details"), "cached_tokens")
    for name in ("cached_tokens", "prompt_cache_hit_tokens"):
        if cached is None:
            cached = count_of(raw, name)
    reasoning = count_of(raw.get("completion_tokens_details"), "reasoning_tokens")
    return Usage(
        input_tokens=count_of(raw, "prompt_tokens"),
        output_tokens=count_of(raw, "completion_tokens"),
        total_tokens=count_of(raw, "total_tokens"),
        cached_tokens=cached,
        reasoning_tokens=count_of(raw, "reasoning_tokens") if reasoning is None else reasoning,
        raw=raw,
    )
