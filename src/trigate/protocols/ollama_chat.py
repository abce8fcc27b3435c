"""Ollama's own chat stream, and that of its older generate: docs/protocols/ollama-chat.md.

Rules
 - A call stands whole in one record, so its record closes it. Whether it may run is said by the last record
   alone: one that says `done`, and why.
 - The arguments are the bytes of the wire's own object; no number in them is converted.
 - A call may stand in a record of its own and again in the last one: it counts once. By its id, else by
   index, name and arguments; what cannot be told apart is not run twice.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

import msgspec

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols import ollama_answers
from trigate.protocols.profile import Profile
from trigate.protocols.shapes import EMPTY, FIXED, IGNORED, TEXT, Place, shapes
from trigate.protocols.wire import as_json_text, attempt, count_of, decode, error_info, fields_of, is_given
from trigate.response import ErrorInfo, Response, Usage
from trigate.turn import TextPart, Turn

__all__ = ["OllamaChat"]

PROFILE = Profile(
    closes_arguments=("the record that holds the call",),
    completes_call=("the record that holds the call",),
    asks_to_run=("stop",),
    ends_well=("load", "unload"),
    ends_otherwise={"length": "incomplete"},
    unknown_end="failed",
    terminal=("a record with done: true", "a record with error"),
    noise=(),
)

_RECORD: dict[str, Place] = {"model": FIXED, "created_at": IGNORED, "done": False}
_MESSAGE: dict[str, Place] = {
    "role": FIXED,
    "content": EMPTY,
    "thinking": EMPTY,
    "tool_calls": EMPTY,
    "images": EMPTY,
}
SHAPES = shapes(
    {**_RECORD, "message": {**_MESSAGE, "content": TEXT}},
    {**_RECORD, "message": {**_MESSAGE, "thinking": TEXT}},
    {**_RECORD, "response": TEXT, "thinking": EMPTY},
    {**_RECORD, "response": EMPTY, "thinking": TEXT},
)


class Line(msgspec.Struct):
    """One line. `response` and `thinking` beside it are those of generate."""

    model: Any = None
    created_at: Any = None
    response: str | None = None
    thinking: str | None = None
    done: bool | None = None
    done_reason: str | None = None
    error: Any = None


class Message(msgspec.Struct):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[msgspec.Raw] | None = None
    images: Any = None


class Record(Line):
    """Its usual form."""

    message: Message | None = None

    @property
    def has_message(self) -> bool:
        return self.message is not None

    def take_message(self, event: Frame) -> Message:
        return self.message or Message()


class AnyRecord(Line):
    message: msgspec.Raw = msgspec.Raw()

    @property
    def has_message(self) -> bool:
        return is_given(self.message)

    def take_message(self, event: Frame) -> Message:
        return decode(self.message, Message, event)


class Call(msgspec.Struct):
    id: str | None = None
    function: msgspec.Raw = msgspec.Raw()


class Function(msgspec.Struct):
    index: int | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()


class Seen(msgspec.Struct, frozen=True):
    """What tells a call apart from another of equal name and arguments: the record that held it, its identity."""

    record: int
    call_id: str | None
    index: int | None

    def is_same(self, other: Seen) -> bool:
        """Whether both are one call."""
        if self.call_id and other.call_id:
            return self.call_id == other.call_id
        if self.index is None or other.index is None:
            return self.record != other.record  # in one list, places tell calls apart
        return self.index == other.index


class OllamaChat:
    """Reads the records of one response into a Turn."""

    name: ClassVar[str] = "ollama-chat"
    framings: ClassVar[tuple[Framing, ...]] = ("ndjson",)
    requires_call_id: ClassVar[bool] = False
    profile: ClassVar[Profile] = PROFILE
    shapes: ClassVar[Shapes | None] = SHAPES

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._records = 0
        self._text: TextPart | None = None
        self._reasoning: TextPart | None = None
        self._seen: dict[tuple[str | None, str], list[Seen]] = {}  # by name and arguments, however written
        self._indices: list[int | None] = []  # of the calls, in the order of arrival

    @staticmethod
    def to_message(response: Response) -> Any:
        return ollama_answers.to_message(response)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        return ollama_answers.tool_result_message(response, call, content, is_error)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        """Whether a first record belongs to this protocol (for `auto`)."""
        told = ("message", "response", "done_reason")
        return (
            event.event == "message"
            and isinstance(value.get("done"), bool)
            and any(name in value for name in told)
        )

    # -- one record --------------------------------------------------------------------------------

    def event(self, event: Frame) -> None:
        turn = self._turn
        if turn.is_ended:
            turn.anomaly("event_after_end", event.start, "a record after the end", once=True)
            return
        data = event.data_bytes
        record = attempt(data, Record) or decode(data, AnyRecord, event)
        self._records += 1
        if not turn.model and isinstance(record.model, str):
            turn.model = record.model or None
        if not turn.origin:
            turn.origin = str(record.created_at or "")
            if not turn.origin and record.created_at is not None:
                turn.lanes.touch()  # the next record may have it
        if record.error is not None:
            self._fail(event)
            return
        has_message = record.has_message
        if not has_message and record.response is None and record.thinking is None and record.done is None:
            turn.unknown("record without message, response and done", event.start)
            turn.other("record", event.data)
            return
        self._add(record.thinking, record.response, event)
        if has_message:
            self._take_message(record.take_message(event), event)
        if record.done and not turn.is_ended:
            self._end(record.done_reason or None, event)

    def _fail(self, event: Frame) -> None:
        error = error_info(fields_of(event.data_bytes, event), event.start)
        self._turn.end("failed", None, error=error, offset=event.start)

    def _take_message(self, message: Message, event: Frame) -> None:
        self._add(message.thinking, message.content, event)
        if message.images:
            self._turn.other("images", event.data)
        for raw in message.tool_calls or ():
            if self._turn.is_ended:
                return
            self._take_call(raw, event)

    def _add(self, thinking: str | None, text: str | None, event: Frame) -> None:
        turn = self._turn
        if thinking:
            if self._reasoning is None:
                self._reasoning = turn.open_reasoning()
            turn.add_reasoning(self._reasoning, thinking, 0, event.start)
            turn.follow_reasoning(self._reasoning, thinking, 0)
        if text:
            if self._text is None:
                self._text = turn.open_text()
            turn.add_text(self._text, text, 0, event.start)
            turn.follow_text(self._text, text, 0)

    # -- calls -------------------------------------------------------------------------------------

    def _take_call(self, raw: msgspec.Raw, event: Frame) -> None:
        turn = self._turn
        made = decode(raw, Call, event)
        function = decode(made.function, Function, event) if is_given(made.function) else Function()
        text, is_string = as_json_text(function.arguments)
        name = function.name or None
        seen = Seen(self._records, made.id or None, function.index)
        equal = self._seen.setdefault((name, _canonical(text or "")), [])
        if any(seen.is_same(other) for other in equal):
            detail = f"{name or 'an unnamed tool'}, {seen.call_id}: the same call as before"
            turn.anomaly("repeated_call", event.start, detail)
            return
        place = len(self._indices)
        index = place if function.index is None else function.index
        call = turn.open_call((place,), index=index, kind="function", offset=event.start)
        if turn.is_ended:
            return
        equal.append(seen)
        self._indices.append(function.index)
        turn.echo = (*turn.echo, bytes(raw))
        if not turn.keep(len(turn.echo[-1]), event.start):
            return
        turn.identify(call, seen.call_id, name, event.start)
        turn.announce(call)
        if text:
            if is_string:
                # Its server is no Ollama, where a cut text cannot come: it is judged like any other text.
                turn.flag(call, "arguments_not_object")
                turn.anomaly("arguments_not_object", event.start, f"{call.name}: arguments as a string")
            turn.add_arguments(call, text, event.start)
        if not turn.is_ended:
            turn.close_call(call, event.start)

    # -- the end -----------------------------------------------------------------------------------

    def _end(self, word: str | None, event: Frame) -> None:
        turn = self._turn
        self._count(event)
        self._check_indices(event)
        status = "failed" if word is None else PROFILE.status_of(word)
        error: ErrorInfo | None = None
        if word is None:
            said = f"the last record, at byte {event.start}, has no done_reason"
            error = ErrorInfo("structure", "structure", "missing_done_reason", said, event.start)
        elif status == "failed":
            error = ErrorInfo("provider", word, word, f"the response ended as {word!r}", event.start)
        turn.end(status, word, error=error, offset=event.start, runs=word in PROFILE.asks_to_run)

    def _count(self, event: Frame) -> None:
        """The counts of the last record. A prompt that was cached may have none."""
        fields = fields_of(event.data_bytes, event)
        raw = {name: value for name, value in fields.items() if name.endswith(("_count", "_duration"))}
        if not raw:
            return
        usage = Usage(
            input_tokens=count_of(raw, "prompt_eval_count"),
            output_tokens=count_of(raw, "eval_count"),
            raw=raw,
        )
        self._turn.count(usage)
        if usage.output_tokens and not (self._text or self._reasoning or self._indices):
            detail = f"{usage.output_tokens} tokens, and nothing came"
            self._turn.anomaly("usage_without_content", event.start, detail)

    def _check_indices(self, event: Frame) -> None:
        """Indices are dense from 0, except that older servers give all calls the index 0, or none."""
        indices = set(self._indices)
        if None not in indices and indices != set(range(len(indices))):
            told = sorted(index for index in indices if index is not None)
            self._turn.anomaly("index_gap", event.start, f"the calls have the indices {told}")

    def finish(self, left: Leftover) -> None:
        """The input is over without a last record, and nothing else ends a response here."""


def _canonical(text: str) -> str:
    """The same for every way to write one object."""
    try:
        return json.dumps(json.loads(text or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        return text
