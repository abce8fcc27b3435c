"""Chat Completions of OpenAI and of the many servers that imitate it: docs/protocols/openai-chat.md, "openai-chat".

Rules
 - Nothing on the wire closes a call or its arguments: only the choice's finish_reason does, so nothing is judged before.
 - Text, calls and finish are kept per choice. The response is as bad as the worst of its choices, and a choice that
   never finished is a lost one. A word that is not known asks for nothing.
 - Until [DONE], or the end of the input, bad news is still heard: an error, a worse finish, text behind a finish.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from trigate._core import Leftover
from trigate.calls import ToolCall
from trigate.errors import LimitError, StructureError, TrigateError
from trigate.framing import Frame, Framing
from trigate.protocols.openai_chat_calls import ToolCalls
from trigate.protocols.openai_chat_message import Echo, to_message, tool_result_message
from trigate.protocols.openai_chat_wire import (
    OBJECTS,
    SILENT_PARTS,
    Choice,
    Chunk,
    Delta,
    arguments_text,
    part_text,
    reasoning_of,
    usage_of,
)
from trigate.protocols.profile import Profile
from trigate.protocols.wire import decode, error_info, fields_of
from trigate.response import ErrorInfo, Response, Status
from trigate.turn import TextPart, Turn

__all__ = ["OpenAIChat"]

PROFILE = Profile(
    closes_arguments=(),
    completes_call=(),
    asks_to_run=("tool_calls", "function_call"),
    ends_well=("stop", "eos"),  # calls beside them are to be run: some servers send no other word
    ends_otherwise={
        "length": "incomplete",
        "content_filter": "incomplete",
        "error": "failed",
        "abort": "failed",
        "insufficient_system_resource": "failed",
        "sensitive": "failed",
        "network_error": "failed",
        "model_context_window_exceeded": "failed",
    },
    unknown_end="failed",
    terminal=("[DONE]", "the end of the input, if every choice has finished", "an error"),
    noise=("ping", "keepalive", "keep-alive", "[DONE]"),
)
SENTINEL = b"[DONE]"
#: Bad ends in the upstream's own words (native_finish_reason), which gateways are known to turn into "stop".
NATIVE_ENDS: dict[str, Status] = {
    **dict.fromkeys(
        (
            "length",
            "max_tokens",
            "max_output_tokens",
            "max_length",
            "model_length",
            "model_context_window_exceeded",
            "incomplete",
            "content_filter",
            "refusal",
            "safety",
            "recitation",
            "blocklist",
            "prohibited_content",
            "spii",
            "image_safety",
            "language",
            "pause_turn",
        ),
        "incomplete",
    ),
    **dict.fromkeys(
        (
            "error",
            "failed",
            "abort",
            "cancelled",
            "network_error",
            "insufficient_system_resource",
            "sensitive",
            "malformed_function_call",
            "malformed_response",
            "unexpected_tool_call",
            "too_many_tool_calls",
            "missing_thought_signature",
            "other",
            "finish_reason_unspecified",
        ),
        "failed",
    ),
}
#: From good to bad: the response is as bad as the worst choice.
RANK: dict[Status, int] = {"completed": 0, "incomplete": 1, "truncated": 2, "failed": 3}
#: `n` is at most 128; a larger index is no choice, and each one below it costs memory.
MAX_CHOICE = 127


class _Choice:
    """One choice: its text, its calls, and how it ended."""

    __slots__ = (
        "asks",
        "calls",
        "echo",
        "finish",
        "has_begun",
        "index",
        "native",
        "offset",
        "reasoning",
        "refusal",
        "status",
        "text",
    )

    def __init__(self, turn: Turn, index: int) -> None:
        self.index = index
        self.calls = ToolCalls(turn, index)
        self.echo = Echo(turn)
        self.text: TextPart = turn.open_text(index)
        self.reasoning: TextPart | None = None
        self.refusal: TextPart | None = None
        self.finish: str | None = None
        self.native = ""
        self.status: Status = "truncated"
        self.asks = False
        self.has_begun = False
        self.offset: int | None = None


class OpenAIChat:
    """Reads the chunks of one response into a Turn."""

    name: ClassVar[str] = "openai-chat"
    framings: ClassVar[tuple[Framing, ...]] = ("sse",)
    requires_call_id: ClassVar[bool] = True
    profile: ClassVar[Profile] = PROFILE

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        turn.has_choices = True
        self._choices: dict[int, _Choice] = {}
        self._ids_differ = False

    @staticmethod
    def to_message(response: Response) -> Any:
        return to_message(response)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        return tool_result_message(response, call, content, is_error)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:  # noqa: ARG004 - the value tells it
        """Whether a first event belongs to this protocol (for `auto`)."""
        return "choices" in value or str(value.get("object")).startswith(OBJECTS)

    # -- one event ---------------------------------------------------------------------------------

    def event(self, event: Frame) -> None:
        data = event.data_bytes.strip()
        kind = event.event
        if self._turn.is_ended:
            if data and data != SENTINEL and kind not in PROFILE.noise:
                self._turn.anomaly("event_after_end", event.start, "after the end of the response", once=True)
        elif data == SENTINEL:
            self._conclude(event.start)
        elif kind == "error":
            self._fail(_json_or_text(event.data), event.start)
        elif data and kind not in PROFILE.noise:
            try:
                self._take(kind, data, event)
            except RecursionError:
                self._flush()
                raise _too_deep(event) from None
            except TrigateError:
                self._flush()
                raise

    def _take(self, kind: str, data: bytes, event: Frame) -> None:
        if kind != "message" and data[:1] != b"{":
            self._unknown(f"event type {kind!r}", kind, event)
            return
        chunk = decode(data, Chunk, event)
        if chunk.usage and isinstance(chunk.usage, dict):
            self._count(chunk.usage)
        if chunk.failure is not None:
            self._fail(fields_of(data, event) if chunk.failure is ... else chunk.failure, event.start)
            return
        if not chunk.is_chunk and (kind != "message" or not chunk.has_something):
            if chunk.type not in PROFILE.noise:
                self._unknown(f"event type {kind!r}", kind, event)
            return
        if not chunk.has_something:
            self._turn.anomaly("empty_chunk", event.start, "a chunk without id, choices and usage", once=True)
        self._identify(chunk, event)
        for position, choice in enumerate(chunk.choices or ()):
            self._take_choice(choice, data, position, event)
            if self._turn.is_ended:
                return
        if not chunk.usage and isinstance(chunk.x_groq, dict) and isinstance(chunk.x_groq.get("usage"), dict):
            self._count(chunk.x_groq["usage"])

    def _unknown(self, what: str, kind: str, event: Frame) -> None:
        self._turn.unknown(what, event.start)
        self._turn.other(kind, event.data)

    def _identify(self, chunk: Chunk, event: Frame) -> None:
        turn = self._turn
        if isinstance(chunk.id, str) and chunk.id:
            if turn.id and chunk.id != turn.id and not self._ids_differ:
                self._ids_differ = True
                turn.anomaly("response_id_changed", event.start, f"{turn.id} became {chunk.id}")
            turn.id = turn.id or chunk.id
        if isinstance(chunk.model, str):
            turn.model = turn.model or chunk.model or None

    def _count(self, raw: dict[str, Any]) -> None:
        """Some servers send the usage so far with each chunk, others send the final one twice."""
        known = self._turn.usage
        if known is None or known.raw != raw:
            self._turn.count(usage_of(raw))

    def _fail(self, value: Any, offset: int | None) -> None:
        error = error_info(value, offset)
        self._flush()
        self._turn.end("failed", str(error.code), error=error, offset=offset)

    # -- one choice --------------------------------------------------------------------------------

    def _choice(self, index: int | None, event: Frame) -> _Choice:
        if index is None:
            self._turn.anomaly("missing_choice_index", event.start, "a choice without an index", once=True)
            index = 0
        choice = self._choices.get(index)
        if choice is None:
            if not 0 <= index <= MAX_CHOICE:
                raise StructureError(
                    f"the event at byte {event.start} has a choice of index {index}; 0 to {MAX_CHOICE} are possible",
                    code="choice_out_of_range",
                    offset=event.start,
                )
            choice = self._choices[index] = _Choice(self._turn, index)
        return choice

    def _take_choice(self, raw: Choice, data: bytes, position: int, event: Frame) -> None:
        choice = self._choice(raw.index, event)
        if raw.delta is not None:
            self._take_delta(choice, raw.delta, data, position, event)
        elif raw.text is None and raw.message and not choice.has_begun:
            raise StructureError(
                f"the event at byte {event.start} holds a whole completion where a chunk was due",
                code="whole_completion",
                offset=event.start,
            )
        elif raw.text:  # the legacy completions; beside a delta it repeats the content (Together)
            self._add_text(choice, raw.text, event)
        choice.has_begun = True
        if isinstance(raw.usage, dict) and raw.usage:
            self._count(raw.usage)
        if raw.error:
            self._fail({"error": raw.error}, event.start)
            return
        native = raw.native_finish_reason
        if isinstance(native, str) and choice.native.lower() not in NATIVE_ENDS:
            choice.native = native
        if raw.finish_reason and not self._turn.is_ended:
            self._finish_choice(choice, raw.finish_reason, event)

    def _take_delta(self, choice: _Choice, delta: Delta, data: bytes, position: int, event: Frame) -> None:
        self._take_reasoning(choice, delta, event)
        if isinstance(delta.content, list):
            self._take_parts(choice, delta, event)
        elif delta.content:
            self._add_text(choice, delta.content, event)
            choice.echo.add_text(delta.content, event.start)
        if delta.refusal:
            self._note_late(choice, "a refusal", event)
            if choice.refusal is None:
                choice.refusal = self._turn.open_refusal()
            self._turn.add_refusal(choice.refusal, delta.refusal, choice.index, event.start)
        if delta.extra_content:
            choice.echo.extra_content = delta.extra_content
        for number, fragment in enumerate(delta.tool_calls or ()):
            if self._turn.is_ended:
                return
            if fragment.function is not None:
                text, is_string = arguments_text(fragment.function.arguments, data, (position, number), event)
            else:
                text, is_string = fragment.custom.input if fragment.custom is not None else None, True
            if not self._is_late(choice, bool(text or fragment.id or fragment.extra_content), event):
                choice.calls.take(fragment, text, is_string, event)
        old = delta.function_call
        if old is not None and not self._turn.is_ended:
            text, is_string = arguments_text(old.arguments, data, (position, None), event)
            if not self._is_late(choice, bool(text or old.name), event):
                choice.calls.take_function_call(old.name, text, is_string, event)

    def _take_reasoning(self, choice: _Choice, delta: Delta, event: Frame) -> None:
        text, member = reasoning_of(delta)
        if isinstance(delta.reasoning_details, list):
            choice.echo.add_details(delta.reasoning_details, event.start)
        if not text:
            return
        choice.echo.reasoning_member = choice.echo.reasoning_member or member
        other = delta.reasoning
        if member == "reasoning_content" and isinstance(other, str) and other not in ("", text):
            self._turn.anomaly(
                "reasoning_differs", event.start, "reasoning beside reasoning_content", once=True
            )
        self._add_reasoning(choice, text, event)

    def _take_parts(self, choice: _Choice, delta: Delta, event: Frame) -> None:
        """A content list: text and thinking by parts."""
        assert isinstance(delta.content, list)
        is_told = bool(reasoning_of(delta)[0])
        for part in delta.content:
            kind = part.get("type")
            if kind == "thinking" and not is_told:
                self._add_reasoning(choice, part_text(part, event), event)
            elif kind == "text":
                self._add_text(choice, part_text(part, event), event)
            elif kind != "thinking" and kind not in SILENT_PARTS:
                self._turn.unknown(f"content part {kind!r}", event.start)
            if self._turn.is_ended:
                return
            choice.echo.add_part(part, event.start)

    def _add_text(self, choice: _Choice, text: str, event: Frame) -> None:
        if text:
            self._note_late(choice, "text", event)
            self._turn.add_text(choice.text, text, choice.index, event.start)

    def _add_reasoning(self, choice: _Choice, text: str, event: Frame) -> None:
        if choice.finish is not None and text:
            self._turn.anomaly("reasoning_after_finish", event.start, f"choice {choice.index}", once=True)
        if choice.reasoning is None:
            choice.reasoning = self._turn.open_reasoning()
        self._turn.add_reasoning(choice.reasoning, text, choice.index, event.start)

    def _note_late(self, choice: _Choice, what: str, event: Frame) -> None:
        """Anything behind a finish says that it was none: what it confirmed is open again."""
        if choice.finish is not None:
            detail = f"{what} behind the finish of choice {choice.index}"
            self._turn.conflict("delta_after_finish", event.start, detail, *choice.calls.calls)

    def _is_late(self, choice: _Choice, has_content: bool, event: Frame) -> bool:
        if choice.finish is not None and has_content:
            self._note_late(choice, "a tool call", event)
        return choice.finish is not None

    # -- the end -----------------------------------------------------------------------------------

    def _finish_choice(self, choice: _Choice, word: str, event: Frame) -> None:
        """A finish_reason. A second one counts only if it is worse; gateways repeat it, with the usage."""
        status = PROFILE.status_of(word)
        asks = word in PROFILE.asks_to_run
        native = NATIVE_ENDS.get(choice.native.lower())
        if status == "completed" and native is not None:
            detail = f"finish_reason {word!r} beside native_finish_reason {choice.native!r}"
            self._turn.anomaly("finish_laundered", event.start, detail, once=True)
            status, word = native, choice.native
        is_first = choice.finish is None
        if not is_first and word != choice.finish:
            detail = f"choice {choice.index}: {choice.finish!r} became {word!r}"
            self._turn.anomaly("finish_changed", event.start, detail, once=True)
        choice.asks = choice.asks or asks
        if is_first or RANK[status] > RANK[choice.status]:
            choice.finish, choice.status, choice.offset = word, status, event.start
        if is_first and status == "completed":
            choice.calls.close(event)

    def _conclude(self, offset: int | None) -> None:
        """The end, at [DONE] or at the end of the input: the worst choice speaks for all of them."""
        turn = self._turn
        self._flush()
        ends = [self._end_of(choice, offset) for _, choice in sorted(self._choices.items())]
        lost = ("truncated", None, _lost("no choice ever came", offset))
        status, word, error = max(ends, key=lambda end: RANK[end[0]], default=lost)
        usage = turn.usage
        if status == "truncated":
            turn.is_end_clean = False
        elif status == "completed" and usage is not None and usage.output_tokens and not self._has_content():
            turn.anomaly("usage_without_content", offset, f"{usage.output_tokens} tokens, and nothing came")
        turn.end(status, word, error=error, offset=offset)

    def _end_of(self, choice: _Choice, offset: int | None) -> tuple[Status, str | None, ErrorInfo | None]:
        word = choice.finish
        if word is None:
            return "truncated", None, _lost(f"choice {choice.index} has no finish_reason", offset)
        if choice.status == "failed":
            message = f"choice {choice.index} ended as {word!r}"
            return "failed", word, ErrorInfo("provider", word, word, message, choice.offset)
        if choice.status == "completed" and choice.asks and not choice.calls.calls:
            message = f"choice {choice.index} asks to run calls ({word!r}), and there is none"
            return "failed", word, ErrorInfo("structure", "structure", "no_calls", message, choice.offset)
        return choice.status, word, None

    def _has_content(self) -> bool:
        return any(
            choice.text or choice.reasoning or choice.refusal or choice.calls.slots
            for choice in self._choices.values()
        )

    def finish(self, left: Leftover) -> None:
        """The end of the input without [DONE] ends the response only where every choice has finished."""
        self._flush()
        ends = [choice.status for choice in self._choices.values()]
        worst = max(ends, key=RANK.__getitem__, default="truncated")
        if worst == "truncated" or (worst == "completed" and not _is_harmless(left)):
            return
        turn = self._turn
        turn.is_end_clean = False
        offset = left.start if left else None
        turn.anomaly("missing_sentinel", offset, "the input ended without [DONE]")
        self._conclude(offset)

    def _flush(self) -> None:
        """What to_message() needs, and text that was held back."""
        for choice in self._choices.values():
            for slot in choice.calls.slots:
                choice.calls.flush(slot, None)
        if self._choices:
            first = self._choices[min(self._choices)]
            parts = {"reasoning": first.reasoning, "refusal": first.refusal}
            texts = {name: part.text for name, part in parts.items() if part is not None}
            self._turn.echo = first.echo.written(first.index, texts, first.calls.slots)


def _json_or_text(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.strip()


def _too_deep(event: Frame) -> LimitError:
    return LimitError(
        f"the event at byte {event.start} is nested deeper than the interpreter can compare",
        code="depth_too_large",
        limit="max_depth",
        offset=event.start,
    )


def _lost(what: str, offset: int | None) -> ErrorInfo:
    place = "" if offset is None else f" at byte {offset}"
    return ErrorInfo(
        "transport", "truncated", "no_finish_reason", f"the stream ended{place}, and {what}", offset
    )


def _is_harmless(left: Leftover) -> bool:
    """Whether the unfinished event at the end can only be [DONE], or a comment. Anything else may be the error that
    would have taken the finish back: then the calls do not run."""
    if not left:
        return True
    if left.data is None:
        return left.where == "line" and left.bytes.startswith(b":")
    begun = left.data.strip()
    return left.event == "message" and bool(begun) and SENTINEL.decode().startswith(begun)
