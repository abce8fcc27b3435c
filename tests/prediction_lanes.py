"""One stream for each sort of delta that may be predicted: how it opens, one delta of it, and how it ends.

Rules
 - What stands in a delta is given to the letter, as the inside of its JSON string; so is its padding, as a JSON value.
 - `ALL` has every shape of every protocol; a test that goes through it goes through them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from bedrock_frames import normal
from prediction_wire import Raw, string, write

__all__ = ["ALL", "DONE", "PADDED", "Kind", "chat", "ids", "sse"]

Step = dict[str, Any]
DONE = b"data: [DONE]\n\n"


def sse(event: Any, name: str = "") -> bytes:
    head = b"event: " + name.encode() + b"\n" if name else b""
    return head + b"data: " + write(event) + b"\n\n"


def chat(delta: Step, end: str | None = None, **choice: Any) -> bytes:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return sse(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": end} | choice]})


class Kind(NamedTuple):
    """A sort of delta. piece: the delta with this text, number and padding (None for the usual one)."""

    protocol: str
    name: str
    opening: Sequence[bytes]
    piece: Callable[[Raw, int, Any], bytes]
    ending: Callable[[int], Sequence[bytes]]

    def frames(self, insides: Iterable[bytes], paddings: Sequence[Any] = (None,)) -> list[bytes]:
        """The whole stream; the paddings take turns."""
        pieces = [
            self.piece(string(inside), number, paddings[number % len(paddings)])
            for number, inside in enumerate(insides)
        ]
        return [*self.opening, *pieces, *self.ending(len(pieces))]


# -- openai-chat ---------------------------------------------------------------------------------------


def _chat(name: str, delta: Callable[[Raw], Step], opening: Sequence[bytes] = (), word: str = "stop") -> Kind:
    def piece(text: Raw, number: int, padding: Any) -> bytes:
        head: Step = {"id": "c1", "object": "chat.completion.chunk", "created": number + 7, "model": "m"}
        if padding is not None:
            head |= {"created": padding, "obfuscation": padding}
        return sse(head | {"choices": [{"index": 0, **delta(text), "finish_reason": None}]})

    begun = [chat({"role": "assistant", "content": ""}), *opening]
    return Kind("openai-chat", name, begun, piece, lambda _: [chat({}, word), DONE])


def _call_head(kind: str, member: str) -> bytes:
    head = {"index": 0, "id": "a", "type": kind, kind: {"name": "f", member: ""}}
    return chat({"tool_calls": [head]})


_CHAT = [
    *(
        _chat(name, lambda text, name=name: {"delta": {name: text}})  # type: ignore[misc]
        for name in ("content", "reasoning_content", "reasoning", "refusal")
    ),
    _chat(
        "call",
        lambda text: {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}},
        [_call_head("function", "arguments")],
        "tool_calls",
    ),
    _chat(
        "custom",
        lambda text: {"delta": {"tool_calls": [{"index": 0, "custom": {"input": text}}]}},
        [_call_head("custom", "input")],
        "tool_calls",
    ),
    _chat("legacy", lambda text: {"text": text}),
]


# -- openai-responses ----------------------------------------------------------------------------------


def _responses(lane: str, item: Step, **place: Any) -> Kind:
    def send(kind: str, number: int, **members: Any) -> bytes:
        return sse({"type": kind, "sequence_number": number, **members}, kind)

    def piece(text: Raw, number: int, padding: Any) -> bytes:
        members = {"item_id": "i0", "output_index": 0, **place, "delta": text}
        members |= {} if padding is None else {"obfuscation": padding}
        return send(f"response.{lane}.delta", number + 2, **members)

    def ending(number: int) -> list[bytes]:
        response = {"id": "r1", "status": "completed", "output": []}
        return [send("response.completed", number + 2, response=response)]

    opening = [
        send("response.created", 0, response={"id": "r1", "model": "m", "status": "in_progress"}),
        send("response.output_item.added", 1, output_index=0, item=item | {"id": "i0"}),
    ]
    return Kind("openai-responses", lane, opening, piece, ending)


_FUNCTION = {"type": "function_call", "call_id": "a", "name": "f", "arguments": ""}
_RESPONSES = [
    _responses("output_text", {"type": "message"}, content_index=0, logprobs=[]),
    _responses("refusal", {"type": "message"}, content_index=0),
    _responses("reasoning_text", {"type": "reasoning"}, content_index=0),
    _responses("reasoning_summary_text", {"type": "reasoning"}, summary_index=0),
    _responses("function_call_arguments", _FUNCTION),
    _responses(
        "custom_tool_call_input", {"type": "custom_tool_call", "call_id": "a", "name": "f", "input": ""}
    ),
]


# -- the protocols of blocks ---------------------------------------------------------------------------


def _anthropic(kind: str, member: str, block: Step) -> Kind:
    def send(name: str, **members: Any) -> bytes:
        return sse({"type": name, **members}, name)

    def piece(text: Raw, *_: Any) -> bytes:
        return send("content_block_delta", index=0, delta={"type": kind, member: text})

    word = "tool_use" if "id" in block else "end_turn"
    ending = [
        send("content_block_stop", index=0),
        send("message_delta", delta={"stop_reason": word}, usage={"output_tokens": 3}),
        send("message_stop"),
    ]
    opening = [
        send("message_start", message={"id": "m1", "model": "m", "content": []}),
        send("content_block_start", index=0, content_block=block),
    ]
    return Kind("anthropic-messages", kind, opening, piece, lambda _: ending)


_ANTHROPIC = [
    _anthropic("text_delta", "text", {"type": "text", "text": ""}),
    _anthropic("thinking_delta", "thinking", {"type": "thinking", "thinking": ""}),
    _anthropic("input_json_delta", "partial_json", {"type": "tool_use", "id": "a", "name": "f", "input": {}}),
]


def _interactions(kind: str, member: str, step: Step) -> Kind:
    def send(name: str, **members: Any) -> bytes:
        return sse({"event_type": name, **members}, name)

    def piece(text: Raw, *_: Any) -> bytes:
        return send("step.delta", index=0, delta={"type": kind, member: text})

    word = "requires_action" if "id" in step else "completed"
    ending = [
        send("step.stop", index=0),
        send("interaction.completed", interaction={"id": "i1", "status": word}),
    ]
    opening = [
        send("interaction.created", interaction={"id": "i1", "model": "m", "status": "in_progress"}),
        send("step.start", index=0, step=step),
    ]
    if kind == "text":  # the first text opens its block
        opening.append(piece(string(b"A")))
    return Kind("gemini-interactions", kind, opening, piece, lambda _: ending)


_INTERACTIONS = [
    _interactions("text", "text", {"type": "model_output"}),
    _interactions("arguments_delta", "arguments", {"type": "function_call", "id": "a", "name": "f"}),
]


def _ollama(name: str, record: Callable[[Raw], Step]) -> Kind:
    def line(**members: Any) -> bytes:
        return write({"model": "m", **members}) + b"\n"

    def piece(text: Raw, number: int, padding: Any) -> bytes:
        when = f"2026-01-01T00:00:{number:02}Z" if padding is None else padding
        return line(created_at=when, **record(text), done=False)

    ending = [line(message={"content": ""}, done=True, done_reason="stop", eval_count=3)]
    return Kind("ollama-chat", name, [], piece, lambda _: ending)


_OLLAMA = [
    _ollama("content", lambda text: {"message": {"role": "assistant", "content": text}}),
    _ollama("thinking", lambda text: {"message": {"role": "assistant", "content": "", "thinking": text}}),
    _ollama("response", lambda text: {"response": text}),
    _ollama("thought", lambda text: {"response": "", "thinking": text}),
]


def _converse(name: str, delta: Callable[[Raw], Step], start: Step | None = None) -> Kind:
    def send(kind: str, **members: Any) -> bytes:
        return normal(kind, write(members))

    def piece(text: Raw, number: int, padding: Any) -> bytes:
        rest = "abcdefgh"[: number % 8] if padding is None else padding
        return send("contentBlockDelta", contentBlockIndex=0, delta=delta(text), p=rest)

    ending = [
        send("contentBlockStop", contentBlockIndex=0),
        send("messageStop", stopReason="end_turn" if start is None else "tool_use"),
        send("metadata", usage={"outputTokens": 3}),
    ]
    opening = [send("messageStart", role="assistant")]
    opening += [] if start is None else [send("contentBlockStart", contentBlockIndex=0, start=start)]
    return Kind("bedrock-converse", name, opening, piece, lambda _: ending)


_CONVERSE = [
    _converse("text", lambda text: {"text": text}),
    _converse("reasoning", lambda text: {"reasoningContent": {"text": text}}),
    _converse(
        "call", lambda text: {"toolUse": {"input": text}}, {"toolUse": {"toolUseId": "a", "name": "f"}}
    ),
]


def _cohere(
    name: str, message: Callable[[Raw], Step], start: Step | None = None, index: int | None = 0
) -> Kind:
    place = {} if index is None else {"index": index}

    def send(kind: str, **members: Any) -> bytes:
        return sse({"type": kind, **members}, kind)

    def piece(text: Raw, *_: Any) -> bytes:
        return send(f"{name}-delta", **place, delta={"message": message(text)})

    opening = [send("message-start", id="m1")]
    ending = [send("message-end", delta={"finish_reason": "COMPLETE"})]
    if start is not None:
        opening.append(send(f"{name}-start", **place, delta={"message": start}))
        ending.insert(0, send(f"{name}-end", **place))
    if name == "tool-call":
        ending[-1] = send("message-end", delta={"finish_reason": "TOOL_CALL"})
    return Kind("cohere-chat", name, opening, piece, lambda _: ending)


_COHERE = [
    _cohere("content", lambda text: {"content": {"text": text}}, {"content": {"type": "text", "text": ""}}),
    _cohere("content", lambda text: {"content": {"thinking": text}}, {"content": {"type": "thinking"}}),
    _cohere("tool-plan", lambda text: {"tool_plan": text}, index=None),
    _cohere(
        "tool-call",
        lambda text: {"tool_calls": {"function": {"arguments": text}}},
        {"tool_calls": {"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}},
    ),
]


def _gemini(name: str, **members: Any) -> Kind:
    def say(part: Step, count: Any, when: Any, **more: Any) -> bytes:
        told = {"content": {"parts": [part], "role": "model"}, "index": 0, **more}
        usage = {"promptTokenCount": 5, "candidatesTokenCount": count}
        return sse({"candidates": [told], "usageMetadata": usage, "modelVersion": "g", "createTime": when})

    def piece(text: Raw, number: int, padding: Any) -> bytes:
        part = {"text": text, **members}
        return say(part, number, "t") if padding is None else say(part, padding, padding)

    return Kind(
        "gemini", name, [], piece, lambda count: [say({"text": "."}, count, "t", finishReason="STOP")]
    )


_GEMINI = [_gemini("text"), _gemini("thought", thought=True)]

ALL: list[Kind] = [*_CHAT, *_RESPONSES, *_ANTHROPIC, *_INTERACTIONS, *_OLLAMA, *_CONVERSE, *_COHERE, *_GEMINI]
#: Those with a member that means nothing.
PADDED: list[Kind] = [*_CHAT, *_RESPONSES, *_OLLAMA, *_CONVERSE, *_GEMINI]


def ids(kind: Kind) -> str:
    return f"{kind.protocol}-{kind.name}"
