"""Google Gemini, streamGenerateContent: docs/protocols/gemini.md.

Rules
 - A chunk's parts are increments in order of arrival; nothing on the wire numbers them.
 - A functionCall part is whole unless it says willContinue. It may run when the response ended with STOP.
 - A finishReason is provisional: old models send one with every chunk. The last one counts, and the response
   ends where the input ends, at the border of an event (or at the closing bracket).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from trigate._core import Record, Shapes
from trigate.calls import ToolCall
from trigate.errors import StructureError
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols import gemini_answers
from trigate.protocols.gemini_calls import CandidateCalls
from trigate.protocols.gemini_parts import Parts
from trigate.protocols.gemini_wire import (
    SHAPES,
    AnyCandidate,
    Candidate,
    Chunk,
    Feedback,
    FunctionCall,
    Part,
    PlainCall,
    PlainChunk,
    candidate_of,
    counts_in,
    counts_of,
    parts_of,
    plain_part,
    usage_of,
)
from trigate.protocols.profile import Profile
from trigate.protocols.wire import attempt, decode, error_info, fields_of, is_given
from trigate.response import ErrorInfo, Response, ServerCall, Status
from trigate.strays import Strays
from trigate.turn import TextPart, Turn

__all__ = ["Gemini"]

BLOCKED = "promptFeedback.blockReason"
PROFILE = Profile(
    closes_arguments=(
        "the functionCall part",
        "streamed: an empty functionCall, or one without willContinue",
    ),
    completes_call=("the same part",),
    asks_to_run=("STOP",),
    ends_well=(),
    ends_otherwise={
        "MAX_TOKENS": "incomplete",
        gemini_answers.CONTINUES: "incomplete",
        BLOCKED: "incomplete",
        "SAFETY": "incomplete",
        "RECITATION": "incomplete",
        "BLOCKLIST": "incomplete",
        "PROHIBITED_CONTENT": "incomplete",
        "SPII": "incomplete",
        "MODEL_ARMOR": "incomplete",
        "LANGUAGE": "incomplete",
        "IMAGE_SAFETY": "incomplete",
        "IMAGE_PROHIBITED_CONTENT": "incomplete",
        "IMAGE_OTHER": "incomplete",
        "IMAGE_RECITATION": "incomplete",
        "NO_IMAGE": "incomplete",
        "ESCALATION": "incomplete",
        "PUP_LIMITED_DISABLED": "incomplete",
        "MALFORMED_FUNCTION_CALL": "failed",
        "UNEXPECTED_TOOL_CALL": "failed",
        "TOO_MANY_TOOL_CALLS": "failed",
        "MISSING_THOUGHT_SIGNATURE": "failed",
        "MALFORMED_RESPONSE": "failed",
        "OTHER": "failed",
        "FINISH_REASON_UNSPECIFIED": "failed",
    },
    unknown_end="failed",
    terminal=("the end of the input after a finishReason or a blockReason", "error"),
    noise=("chunks that hold only usage or versions", "[DONE]"),
)
#: Every word with this prefix is a policy stop, also those that are not known yet.
_IMAGE_STOP = "IMAGE_"
#: Google allows 8; each costs memory.
_MAX_CANDIDATES = 128
_UNSPECIFIED = "FINISH_REASON_UNSPECIFIED"
_SERVER_RUN = ("toolCall", "toolResponse", "executableCode", "codeExecutionResult")
_OTHER_PARTS = ("inlineData", "fileData", "functionResponse")


class _Candidate:
    """One answer: its parts as they came, its texts and calls, and the last finishReason."""

    __slots__ = (
        "calls",
        "finish",
        "has_content",
        "index",
        "message",
        "offset",
        "parts",
        "reasoning",
        "text",
        "was_cut",
    )

    def __init__(self, turn: Turn, index: int) -> None:
        self.index = index
        self.calls = CandidateCalls(turn, index)
        self.parts = Parts(turn)
        self.text: TextPart | None = None
        self.reasoning: TextPart | None = None
        self.has_content = False
        self.finish: str | None = None
        self.message: str | None = None
        self.offset: int | None = None
        self.was_cut = False  # an earlier finishReason was not a good one


class Gemini:
    """Reads the chunks of one response into a Turn."""

    name: ClassVar[str] = "gemini"
    framings: ClassVar[tuple[Framing, ...]] = ("sse", "json-array")
    requires_call_id: ClassVar[bool] = False
    profile: ClassVar[Profile] = PROFILE
    shapes: ClassVar[Shapes | None] = SHAPES

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        turn.has_choices = True
        turn.catch_up = self._catch_up
        turn.lanes.keep_each()
        self._candidates: dict[int, _Candidate] = {}
        self._blocked: tuple[str, int | None] | None = None
        self._has_sentinel = False
        self._chunk_id: str | None = None
        self._has_usage = False
        self._counts: dict[str, Any] | bytes | None = (
            None  # the last ones, or the chunk that holds them; see _catch_up
        )
        self._calls_id: str | None = None  # that of the chunk with the last call

    @staticmethod
    def to_message(response: Response) -> Any:
        return gemini_answers.to_message(response)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        return gemini_answers.tool_result_message(response, call, content, is_error)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        """Whether a first event belongs to this protocol (for `auto`)."""
        if "type" in value or "choices" in value:
            return False
        has_version = "modelVersion" in value or "responseId" in value
        return (
            isinstance(value.get("candidates"), list)
            or isinstance(value.get("promptFeedback"), dict)
            or (has_version and isinstance(value.get("usageMetadata"), dict))
        )

    # -- one chunk ---------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Counts are cumulative, and come with every chunk: the last ones are looked at when somebody asks."""
        self._keep_latest()
        counts, self._counts = self._counts, None
        if isinstance(counts, bytes):
            counts = counts_of(counts)
        if counts is not None:
            self._turn.usage = usage_of(counts)

    def _keep_latest(self) -> None:
        """What went unread since the last event that was read."""
        latest = self._turn.lanes.take_latest()
        if latest is not None:
            self._counts = latest

    def event(self, event: Frame) -> None:
        turn = self._turn
        self._keep_latest()
        if turn.strays is None and event.start is not None and not isinstance(event, Record):
            turn.strays = Strays(turn.options.limits.max_event_bytes)
            turn.lanes.watch_strays()
        data = event.data_bytes.strip()
        is_error = event.event == "error"
        if (data[:1] != b"{" or self._has_sentinel or turn.is_ended) and not self._is_chunk(
            data, is_error, event
        ):
            return
        chunk = attempt(data, PlainChunk) or decode(data, Chunk, event)
        if is_error or (chunk.error and is_given(chunk.error) and fields_of(bytes(chunk.error), event)):
            self._fail(fields_of(data, event), event.start)
            return
        self._take(chunk, event)

    def _is_chunk(self, data: bytes, is_error: bool, event: Frame) -> bool:
        """Whether data that begins with no brace, or that comes after the end, is to be read as a chunk."""
        turn = self._turn
        if not data:
            return False
        if data == b"[DONE]":
            self._has_sentinel = True
            return False
        if self._has_sentinel or turn.is_ended:
            detail = "after the sentinel [DONE]" if self._has_sentinel else "after the error"
            turn.anomaly("event_after_end", event.start, detail, once=True)
            return False
        if is_error and data[:1] not in b"{[":
            self._fail(data.decode(), event.start)
            return False
        return True

    def _fail(self, value: Any, offset: int | None) -> None:
        self._keep_echo()
        error = error_info(value, offset)
        self._turn.end("failed", None, error=error, offset=offset)

    def _take(self, chunk: PlainChunk | Chunk, event: Frame) -> None:
        turn = self._turn
        if chunk.responseId and chunk.responseId != self._chunk_id:
            self._take_id(chunk.responseId, event)
        if turn.model is None:
            turn.model = chunk.modelVersion or None
        if chunk.promptFeedback and is_given(chunk.promptFeedback):
            word = decode(chunk.promptFeedback, Feedback, event).blockReason
            if word:
                self._blocked = (word, event.start)
        candidates: Sequence[Candidate | msgspec.Raw] = chunk.candidates or ()
        if len(candidates) == 1:
            has_finish = self._take_candidate(candidate_of(candidates[0], event), event)
        else:
            has_finish = self._take_candidates(candidates, event)
        counts = chunk.usageMetadata if isinstance(chunk, PlainChunk) else counts_in(chunk, event)
        if (counts is not None) != self._has_usage:
            turn.lanes.touch()  # of chunks that go unread the last alone is looked at: all of them count, or none
        if counts is not None:
            self._has_usage = True
            self._counts = counts
            if has_finish or not candidates:
                self._counts = None
                turn.count(usage_of(counts))  # told when it is final, not with every piece of text
        if isinstance(chunk, Chunk) and not chunk.has_something:
            turn.unknown("chunk without any known member", event.start)
            turn.other("chunk", event.data)

    def _take_id(self, said: str, event: Frame) -> None:
        turn = self._turn
        if turn.id and said != turn.id:
            turn.anomaly("response_id_changed", event.start, f"{turn.id} became {said}", once=True)
        turn.id = turn.id or said
        self._chunk_id = said
        turn.lanes.touch()  # whose calls come next depends on it

    def _take_candidates(self, candidates: Sequence[Candidate | msgspec.Raw], event: Frame) -> bool:
        """Whether one of them has a finishReason."""
        seen: set[int] = set()
        has_finish = False
        for told in candidates:
            if self._turn.is_ended:
                break
            part = candidate_of(told, event)
            index = part.index or 0
            if index in seen:
                detail = f"candidate {index} stands twice in one chunk"
                self._turn.conflict("candidate_repeated", event.start, detail)
            seen.add(index)
            has_finish = self._take_candidate(part, event) or has_finish
        return has_finish

    def _begin_candidate(self, index: int, event: Frame) -> _Candidate:
        if not 0 <= index < _MAX_CANDIDATES:
            raise StructureError(
                f"the event at byte {event.start} has candidate {index}, beyond {_MAX_CANDIDATES - 1}",
                code="candidate_out_of_range",
                offset=event.start,
            )
        made = self._candidates[index] = _Candidate(self._turn, index)
        return made

    def _take_candidate(self, part: Candidate | AnyCandidate, event: Frame) -> bool:
        """Whether it has a finishReason."""
        turn = self._turn
        index = part.index or 0
        candidate = self._candidates.get(index) or self._begin_candidate(index, event)
        parts = parts_of(part, event)
        reason = part.finishReason
        if candidate.finish is not None and parts and not reason:
            self._note_late(candidate, parts, event)
        for raw in parts:
            self._take_part(candidate, raw, event)
            if turn.is_ended:
                return bool(reason)
        if part.continuationToken and is_given(part.continuationToken):
            turn.other("continuationToken", json.dumps(fields_of(bytes(part.continuationToken), event)))
        if reason:
            self._take_finish(candidate, reason, part.finishMessage, event)
        return bool(reason)

    def _take_finish(
        self, candidate: _Candidate, reason: str, raw_message: msgspec.Raw, event: Frame
    ) -> None:
        if candidate.finish not in (None, reason, _UNSPECIFIED):
            detail = f"{candidate.finish} became {reason}"
            self._turn.anomaly("reason_changed", event.start, detail, once=True)
            candidate.was_cut = candidate.was_cut or _status_of(candidate.finish) != "completed"
        message = fields_of(bytes(raw_message), event) if is_given(raw_message) else None
        candidate.finish = reason
        candidate.message = message if isinstance(message, str) else None
        candidate.offset = event.start
        candidate.calls.finish()

    def _note_late(self, candidate: _Candidate, parts: list[msgspec.Raw], event: Frame) -> None:
        """Parts behind a finishReason, in a chunk without one: it cannot have known of a call among them."""
        detail = f"candidate {candidate.index} goes on after {candidate.finish}"
        self._turn.anomaly("parts_after_finish", event.start, detail, once=True)
        if any(is_given(decode(raw, Part, event).functionCall) for raw in parts):
            candidate.was_cut = candidate.was_cut or _status_of(candidate.finish or "") != "completed"
            candidate.finish = None

    # -- one part ----------------------------------------------------------------------------------

    def _take_part(self, candidate: _Candidate, raw: msgspec.Raw, event: Frame) -> None:
        part = plain_part(raw)
        if part is None:
            self._take_any(candidate, raw, event)
            return
        text, call = part.text, part.functionCall
        if text and part.is_text:
            candidate.has_content = True
            self._take_plain_text(candidate, text, part.thought is True, event)
        elif candidate.parts.add(bytes(raw), event.start):
            if text:
                self._take_text(candidate, text, part.thought is True, event)
            if not isinstance(call, msgspec.UnsetType):
                self._take_call(candidate, call, event)
            elif text is None and not part.thoughtSignature:
                self._take_unknown(raw, event)

    def _take_any(self, candidate: _Candidate, raw: msgspec.Raw, event: Frame) -> None:
        """A part that may have any member."""
        turn = self._turn
        part = decode(raw, Part, event)
        if not candidate.parts.add(bytes(raw), event.start):
            return
        is_known = part.text is not None or bool(part.thoughtSignature)
        if part.text:
            self._take_text(candidate, part.text, bool(part.thought), event)
        if part.functionCall and is_given(part.functionCall):
            is_known = True
            self._take_call(candidate, part.functionCall, event)
        for member in _SERVER_RUN + _OTHER_PARTS if part.has_others else ():
            value: msgspec.Raw = getattr(part, member)
            if is_given(value):
                is_known = candidate.has_content = True
                if member in _SERVER_RUN:
                    turn.server_call(_server_call(member, value, event))
                turn.other(member, bytes(value).decode())
        if not is_known:
            self._take_unknown(raw, event)

    def _take_unknown(self, raw: msgspec.Raw, event: Frame) -> None:
        self._turn.unknown("part without any known member", event.start)
        self._turn.other("part", bytes(raw).decode())

    def _take_call(self, candidate: _Candidate, call: PlainCall | msgspec.Raw, event: Frame) -> None:
        candidate.has_content = True
        if self._calls_id != self._chunk_id:
            self._check_restart(event)
        part = call if isinstance(call, PlainCall) else decode(call, FunctionCall, event)
        candidate.calls.take(part, event)

    def _check_restart(self, event: Frame) -> None:
        """Proxies may change the id. But calls under two ids may be two attempts at one turn."""
        if self._calls_id is not None:
            detail = f"calls of {self._calls_id} and of {self._chunk_id} in one stream"
            self._turn.conflict("response_restarted", event.start, detail)
        self._calls_id = self._chunk_id

    def _text_of(self, candidate: _Candidate, is_thought: bool) -> TextPart:
        turn = self._turn
        if is_thought:
            if candidate.reasoning is None:
                candidate.reasoning = turn.open_reasoning()
            return candidate.reasoning
        if candidate.text is None:
            candidate.text = turn.open_text(candidate.index)
        return candidate.text

    def _take_text(self, candidate: _Candidate, text: str, is_thought: bool, event: Frame) -> None:
        candidate.has_content = True
        self._add(self._text_of(candidate, is_thought), candidate, text, is_thought, event)

    def _add(self, part: TextPart, candidate: _Candidate, text: str, is_thought: bool, event: Frame) -> None:
        add = self._turn.add_reasoning if is_thought else self._turn.add_text
        add(part, text, candidate.index, event.start)

    def _take_plain_text(self, candidate: _Candidate, text: str, is_thought: bool, event: Frame) -> None:
        part = self._text_of(candidate, is_thought)
        sizes = candidate.parts.begin_text(part, is_thought)
        before = part.lane.size
        self._add(part, candidate, text, is_thought, event)
        sizes.append(part.lane.size - before)
        follow = self._turn.follow_reasoning if is_thought else self._turn.follow_text
        follow(part, text, candidate.index, sizes)

    # -- the end -----------------------------------------------------------------------------------

    def finish(self, left: Leftover) -> None:
        """The end of the input ends the response, if it said how and nothing of it is missing."""
        self._keep_echo()
        strays = self._turn.strays
        if strays is not None and strays.state != "none":
            self._finish_stray(strays)
        elif left:
            return
        elif self._blocked is not None:
            word, offset = self._blocked
            self._turn.end(PROFILE.status_of(BLOCKED), word, offset=offset)
        elif self._candidates and all(candidate.finish for candidate in self._candidates.values()):
            self._finish_candidates()

    def _finish_candidates(self) -> None:
        """The first candidate's end, unless another one's is worse: a turn is as good as its worst part."""
        candidates = [self._candidates[index] for index in sorted(self._candidates)]
        ends = [(_status_of(candidate.finish or ""), candidate) for candidate in candidates]
        by_severity: tuple[Status, ...] = ("failed", "incomplete", "completed")
        status, candidate = min(ends, key=lambda end: by_severity.index(end[0]))
        word = candidate.finish or ""
        error: ErrorInfo | None = None
        if status == "failed":
            message = candidate.message or f"the response ended as {word}"
            error = ErrorInfo("provider", word, word, message, candidate.offset)
        elif status == "completed" and not any(one.has_content for one in candidates):
            usage = self._turn.usage
            if usage is not None and usage.output_tokens:
                detail = f"{usage.output_tokens} tokens, but nothing that was received"
                self._turn.anomaly("usage_without_content", candidate.offset, detail)
        # The last word counts. But what was cut, blocked or malformed before it is not run.
        runs = not any(one.was_cut for one in candidates)
        self._turn.end(status, word, error=error, offset=candidate.offset, runs=runs)

    def _finish_stray(self, strays: Strays) -> None:
        """JSON between events: an error of the front end. Anything else may be a lost chunk: it fails too."""
        if strays.state == "open":
            return
        value: Any = None
        if strays.text is not None:
            try:
                value = json.loads(strays.text)
            except (ValueError, RecursionError):
                value = None
        if isinstance(value, dict) and value.get("error"):
            self._fail(value, strays.offset)
            return
        self._turn.fault(
            StructureError(
                f"the line at byte {strays.offset} is no field of an event: expected data: before the JSON",
                code="stray_text",
                offset=strays.offset,
            )
        )

    def _keep_echo(self) -> None:
        first = min(self._candidates, default=None)
        if first is not None:
            self._turn.echo = self._candidates[first].parts.to_echo()


def _status_of(word: str) -> Status:
    return "incomplete" if word.startswith(_IMAGE_STOP) else PROFILE.status_of(word)


def _server_call(member: str, raw: msgspec.Raw, event: Frame) -> ServerCall:
    value = fields_of(bytes(raw), event)
    members = value if isinstance(value, dict) else {}

    def word(name: str) -> str | None:
        found = members.get(name)
        return found if isinstance(found, str) else None

    return ServerCall(member, word("id"), word("toolType"), word("outcome"), bytes(raw).decode())
