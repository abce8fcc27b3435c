"""The state of one response while it arrives. Protocol modules tell it what happened, in neutral words.

Rules
 - Everything that changes a call's state, the status or the released set happens in this file.
 - The first fault wins: once a response is `failed` or `conflict`, nothing that follows can heal it.
 - Nothing is released before the protocol module says that the response ended well, unless the caller chose
   release_on="call"; then a call is released when its own item is closed, and never taken back in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from trigate._core import Lane, Lanes, Sizes
from trigate.calls import CallKind, ReleasedCall, ToolCall, WireKey, generated_id, label, release, snapshot
from trigate.errors import LimitError, StructureError, TrigateError
from trigate.items import (
    ArgumentsDelta,
    OtherEvent,
    ReasoningDelta,
    RefusalDelta,
    ResponseEnded,
    TextDelta,
    ToolCallDone,
    ToolCallStarted,
    UsageUpdate,
)
from trigate.notes import Notes
from trigate.numbering import Numbering
from trigate.options import Options
from trigate.picture import picture
from trigate.response import ErrorInfo, Response, ServerCall, Status, Usage
from trigate.strays import Strays
from trigate.text import TextPart, Texts, has_halves, join_halves, shown, size_of
from trigate.twins import Twins
from trigate.validate import judge_arguments

__all__ = ["Options", "TextPart", "Turn"]

# What a part of text costs beside its text.
_PART_SIZE = 300


class Turn:
    """One response in the making. `protocol` names how it is read; `requires_call_id` whether a call without
    an id can be answered at all."""

    def __init__(self, protocol: str, options: Options, *, requires_call_id: bool = True) -> None:
        self.protocol = protocol
        self.options = options
        self.requires_call_id = requires_call_id
        self.id: str | None = None
        self.origin = ""  # what tells this response from another one, where it has no id
        self.model: str | None = None
        self.reason: str | None = None
        self._usage: Usage | None = None
        self.echo: Sequence[bytes] = ()
        self.strays: Strays | None = None  # set by a protocol whose servers write errors outside of events
        self.calls: list[ToolCall] = []
        self.closed: list[ToolCall] | None = None  # a list, if somebody wants those that stream no more
        self.has_choices = False  # set by a protocol whose wire keys begin with a choice
        self.is_ended = False
        self.is_faulted = False
        self.is_end_clean = True  # False: it ended without all that the protocol ends with
        self.catch_up: Callable[[], None] | None = None  # set by a protocol that reads some things late
        self._status: Status = "in_progress"
        self._error: ErrorInfo | None = None
        self._ended: Response | None = None  # as it was when it ended
        self._notes_at_end = 0
        self._texts = Texts()
        self._server_calls: list[ServerCall] | None = None
        self.lanes = Lanes(deltas=options.deltas, max_kept=options.limits.max_response_bytes)
        self._notes = Notes(options.limits.max_anomalies, self.lanes)
        self.numbering = Numbering(options.limits.max_response_bytes)
        self._unproven: list[int] | None = None  # positions in calls

    # -- items -------------------------------------------------------------------------------------

    def other(self, wire_type: str, data: str) -> None:
        """An event that carries neither text nor calls."""
        self.lanes.emit(OtherEvent(wire_type, data))

    # -- text --------------------------------------------------------------------------------------

    def open_text(self, choice: int = 0) -> TextPart:
        return self._count_part(self._texts.open_text(choice))

    def open_reasoning(self) -> TextPart:
        return self._count_part(self._texts.open_reasoning())

    def open_refusal(self) -> TextPart:
        return self._count_part(self._texts.open_refusal())

    def _count_part(self, part: TextPart) -> TextPart:
        self.lanes.touch()
        self.lanes.keep(_PART_SIZE)
        return part

    def add_text(self, part: TextPart, piece: str, index: int, offset: int | None) -> None:
        if self._fits(size_of(piece), offset):
            self.lanes.delta(TextDelta, index, part.append(piece))

    def add_reasoning(self, part: TextPart, piece: str, index: int, offset: int | None) -> None:
        if self._fits(size_of(piece), offset):
            self.lanes.delta(ReasoningDelta, index, part.append(piece))

    def add_refusal(self, part: TextPart, piece: str, index: int, offset: int | None) -> None:
        if self._fits(size_of(piece), offset):
            self.lanes.delta(RefusalDelta, index, part.append(piece))

    def follow_text(self, part: TextPart, piece: str, index: int, sizes: Sizes | None = None) -> None:
        """This event was nothing but that piece: what differs from it in its piece alone need not be read.

        sizes: which takes the bytes of each piece, if somebody wants to know.
        """
        self._follow(part, TextDelta, index, piece, sizes)

    def follow_reasoning(self, part: TextPart, piece: str, index: int, sizes: Sizes | None = None) -> None:
        self._follow(part, ReasoningDelta, index, piece, sizes)

    def _follow(self, part: TextPart, kind: type, index: int, piece: str, sizes: Sizes | None = None) -> None:
        if not part._half and self._error is None:
            self.lanes.follow(part.lane, kind, index, piece, sizes=sizes)

    def take_piece(self, part: TextPart, kind: type, piece: str, index: int, offset: int | None) -> None:
        """Adds a piece, and follows it: what most events are that are read. kind: that of its items."""
        lanes = self.lanes
        if lanes.keep(len(piece) if piece.isascii() else size_of(piece)):
            lanes.delta(kind, index, part.append(piece))
            if not part._half and self._error is None:
                lanes.follow(part.lane, kind, index, piece)
        else:
            self._limit("response_too_large", "max_response_bytes", offset)

    def add_unshown(self, lane: Lane, piece: str, offset: int | None) -> None:
        """A piece of something that is shown when it is whole: the input of a tool that the provider runs."""
        if self._fits(size_of(piece), offset):
            lane.append(piece)
            self.lanes.delta(None, None, piece)

    def follow_unshown(self, lane: Lane, piece: str) -> None:
        if self._error is None:
            self.lanes.follow(lane, None, None, piece)

    def keep(self, size: int, offset: int | None) -> bool:
        """Counts bytes that stay until the end; False once the response's bound is passed."""
        lanes = self.lanes
        lanes.touch()
        if lanes.keep(size):
            return True
        self._limit("response_too_large", "max_response_bytes", offset)
        return False

    def _fits(self, size: int, offset: int | None) -> bool:
        if self.lanes.keep(size):
            return True
        self._limit("response_too_large", "max_response_bytes", offset)
        return False

    def _limit(self, code: str, limit: str, offset: int | None) -> None:
        bound = getattr(self.options.limits, limit)
        place = "" if offset is None else f", in the event at byte {offset}"
        self.fault(LimitError(f"{limit} = {bound} is passed{place}", code=code, limit=limit, offset=offset))

    # -- calls -------------------------------------------------------------------------------------

    def open_call(self, wire_key: WireKey, *, index: int, kind: CallKind, offset: int | None) -> ToolCall:
        """A new call at its wire position. Say who it is (`identify`) before `announce`."""
        calls, limits = self.calls, self.options.limits
        call = ToolCall(wire_key, index=index, kind=kind, lane=Lane(max_depth=limits.max_depth))
        if not calls:
            self._twins = Twins(calls, self.has_choices)
        if len(calls) >= limits.max_calls:
            self._limit("too_many_calls", "max_calls", offset)
            return call
        call._position = len(calls)
        call._start = self.lanes.start
        calls.append(call)
        self._notes.decision("call_started", offset, f"a {kind} call at {wire_key!r}")
        return call

    def announce(self, call: ToolCall) -> None:
        self.lanes.emit(ToolCallStarted(call))

    def identify(self, call: ToolCall, call_id: str | None, name: str | None, offset: int | None) -> None:
        """Takes id and name where they are still missing; another non-empty value is a contradiction."""
        if call_id:
            if call._call_id is None:
                if self.keep(size_of(call_id), offset):
                    call._call_id = call_id
            elif call._call_id != call_id:
                detail = f"{shown(call._call_id)} became {shown(call_id)}"
                self.conflict("call_id_changed", offset, detail, call)
        if name:
            if not call._name:
                self.extend_name(call, name, offset)
            elif call._name != name:
                self.conflict("name_changed", offset, f"{shown(call._name)} became {shown(name)}", call)

    def extend_name(self, call: ToolCall, piece: str, offset: int | None) -> None:
        """A name that comes in pieces: an equal repeat changes nothing, anything else is the next piece."""
        if not piece or piece == call._name:
            return
        size = size_of(piece)
        if (size_of(call._name) if call._name else 0) + size > self.options.limits.max_name_bytes:
            self._limit("name_too_large", "max_name_bytes", offset)
        elif self.keep(size, offset):
            call._name += piece

    def flag(self, call: ToolCall, *flags: str) -> None:
        self.lanes.touch()
        call._flags = tuple(dict.fromkeys((*call._flags, *flags)))

    def add_arguments(self, call: ToolCall, piece: str, offset: int | None) -> None:
        size = len(piece) if piece.isascii() else size_of(piece)
        lane = call._lane
        if lane.size + size > self.options.limits.max_arguments_bytes:
            self._limit("arguments_too_large", "max_arguments_bytes", offset)
        elif self.lanes.keep(size):
            lane.append(piece)
            self.lanes.delta(ArgumentsDelta, call, piece)
        else:
            self._limit("response_too_large", "max_response_bytes", offset)

    def follow_arguments(self, call: ToolCall, piece: str) -> None:
        """As follow_text, for a piece of a call's arguments."""
        if call._state == "streaming" and self._error is None:
            room = self.options.limits.max_arguments_bytes - call._lane.size
            self.lanes.follow(call._lane, ArgumentsDelta, call, piece, room)

    def confirm_arguments(self, call: ToolCall, text: str, offset: int | None, copy: str) -> None:
        """The wire repeats the whole text: it is the text if no piece came, else it must be equal to them."""
        if not call._lane and call._state == "streaming":
            self.add_arguments(call, text, offset)
        elif call.arguments != text and self._whole_text(call) != join_halves(text):
            detail = f"{copy} has {shown(text)} where the pieces before it joined to {shown(call.arguments)}"
            self.conflict("arguments_differ", offset, detail, call)

    def _whole_text(self, call: ToolCall) -> str:
        """The arguments, with halves of surrogate pairs joined that the wire's own JSON cut apart; a lone one stays."""
        text = call.arguments
        joined = join_halves(text)
        if joined is not text:
            call._lane = Lane(joined, max_depth=self.options.limits.max_depth)
        return joined

    def close_call(
        self, call: ToolCall, offset: int | None, *, is_proven: bool = True, is_answered_by_name: bool = False
    ) -> None:
        """The protocol says that the call is whole: now its text is judged.

        is_proven: False where the wire also closes what a limit cut: no early release before `prove_calls`.
        is_answered_by_name: its result carries the name alone, so that it needs no id.
        """
        if call._state != "streaming":
            return
        if call._kind != "custom":
            try:
                may_have_halves = has_halves(call.arguments)
                if may_have_halves:
                    self._whole_text(call)
                verdict = judge_arguments(
                    call._lane, lenient=self.options.lenient, may_have_halves=may_have_halves
                )
            except LimitError as error:
                self.fault(
                    LimitError(
                        f"the arguments of {call._name or 'a call'} are nested deeper than max_depth = "
                        f"{self.options.limits.max_depth}",
                        code=error.code,
                        limit=error.limit,
                        offset=offset,
                    )
                )
                return
            if verdict.flags:
                self.flag(call, *verdict.flags)
            if verdict.problem is not None:
                self.void_call(call, verdict.problem, offset, verdict.detail)
                return
        self._settle(call, offset, is_proven, self.requires_call_id and not is_answered_by_name)

    def _settle(self, call: ToolCall, offset: int | None, is_proven: bool, requires_id: bool) -> None:
        """The arguments are good: is the call nameable, answerable, and the first of its id?"""
        if not call._name:
            self.void_call(call, "no_name", offset, "the wire gave the call no name")
            return
        if call._call_id is None:
            if self.options.ids == "generate":
                call._call_id = self._generated_id(call)
            elif requires_id:
                self.void_call(call, "no_call_id", offset, f"the wire gave the call of {call._name} no id")
                return
        twin = self._twins.of(call)
        if twin is not None:
            if twin.arguments == call.arguments and twin._name == call._name:
                self.void_call(call, "repeated", offset, f"call {call._call_id} came twice, unchanged")
            else:
                self.conflict(
                    "call_id_reused", offset, f"two calls carry the id {call._call_id!r}", call, twin
                )
            return
        call._state = "done"
        call._end = self.lanes.end
        if self.closed is not None:
            self.closed.append(call)
        self._notes.decision("call_done", offset, f"{label(call)} is closed, and its arguments are whole")
        is_early = self.options.release_on == "call" and self._status == "in_progress"
        if is_early and not self._twins.is_contested(call):
            if self._unproven is None:
                self._unproven = []
            self._unproven.append(call._position)
            if is_proven:
                self.prove_calls(offset)
        else:
            self.lanes.emit(ToolCallDone(snapshot(call)))

    def prove_calls(self, offset: int | None = None) -> None:
        """Generation went on behind the closed calls, so no limit cut them: release_on="call" lets them run."""
        if self._unproven is None:
            return
        proven, self._unproven = self._unproven, None
        for position in proven:
            call = self.calls[position]
            if call._state == "done" and self._status == "in_progress":
                call = self._release(call, offset)
            self.lanes.emit(ToolCallDone(snapshot(call)))

    def _generated_id(self, call: ToolCall) -> str:
        whose = self.id or self.origin
        return generated_id(self.protocol, whose, repr(call._wire_key), call._name, call.arguments)

    def _release(self, call: ToolCall, offset: int | None) -> ReleasedCall:
        released = release(call)
        self._notes.decision("call_released", offset, f"{label(call)} may run")
        call._state = "released"
        self.calls[call._position] = released
        return released

    def void_call(self, call: ToolCall, problem: str, offset: int | None, detail: str) -> None:
        """The call can never run. Whether a cut one is a deviation is known only when the response ends."""
        if call._state == "released" and problem != "conflict":
            detail = f"{label(call)} was released, and then: {detail or problem}"
            self.conflict("released_call_denied", offset, detail)
        if call._state in ("void", "released"):
            return
        was_streaming = call._state == "streaming"
        if was_streaming and self.closed is not None:
            self.closed.append(call)
        call._state = "void"
        call._problem = problem
        if was_streaming:
            call._end = self.lanes.end
        self._notes.decision("call_void", offset, f"{label(call)} may not run: {problem}")
        if problem not in ("incomplete", "response_not_completed", "conflict"):
            self.anomaly(f"call_{problem}", offset, detail)
        if was_streaming:
            self.lanes.emit(ToolCallDone(snapshot(call)))

    # -- how it ends -------------------------------------------------------------------------------

    @property
    def anomaly_count(self) -> int:
        return self._notes.anomaly_count

    def anomaly(self, code: str, offset: int | None, detail: str, *, once: bool = False) -> None:
        """Notes a tolerated deviation. once: the same code and detail are noted a single time."""
        self._notes.anomaly(code, offset, detail, once)

    def unknown(self, what: str, offset: int | None) -> None:
        """An event or item type that this version does not know: tolerated, unless the caller is strict."""
        if self.options.strict:
            self.fault(
                StructureError(
                    f"unknown {what} in the event at byte {offset}", code="unknown_type", offset=offset
                )
            )
        else:
            self.anomaly("unknown_type", offset, what, once=True)

    def conflict(self, code: str, offset: int | None, detail: str, *calls: ToolCall) -> None:
        """The stream contradicts itself: nothing of it may run, and reading goes on only to show the rest."""
        for call in calls:
            self.void_call(call, "conflict", offset, detail)
        if self._error is None:
            place = "" if offset is None else f" (event at byte {offset})"
            self._status = "conflict"
            self._error = ErrorInfo("structure", "conflict", code, f"{detail}{place}", offset)
            self._notes.decision("conflict", offset, f"{code}: {detail}")
        self.anomaly(code, offset, detail)

    def fault(self, error: TrigateError) -> None:
        """Broken bytes, a passed limit, a broken structure: the response fails here and now."""
        if self.is_faulted:
            return
        self.is_faulted = True
        if self.is_ended:
            self.anomaly("fault_after_end", error.offset, f"{error.code}: {error.message}")
            return
        limit = error.limit if isinstance(error, LimitError) else None
        self.end(
            "failed",
            None,
            error=ErrorInfo(error.layer, error.layer, error.code, error.message, error.offset, None, limit),
        )

    def server_call(self, call: ServerCall) -> None:
        if self._server_calls is None:
            self._server_calls = []
        self._server_calls.append(call)

    @property
    def usage(self) -> Usage | None:
        if self.catch_up is not None:
            self.catch_up()
        return self._usage

    @usage.setter
    def usage(self, usage: Usage) -> None:
        self._usage = usage

    def count(self, usage: Usage) -> None:
        self.usage = usage
        self.lanes.emit(UsageUpdate(usage))

    def end(
        self,
        status: Status,
        reason: str | None,
        *,
        error: ErrorInfo | None = None,
        offset: int | None = None,
        runs: bool = True,
        is_final: bool = True,
    ) -> None:
        """The response is over. Only here, with `completed`, are calls released by default.

        runs: False for an end that is good but asks for no call to be run: calls beside it are void.
        is_final: False for an end that may be taken back (trigate.reopen).
        """
        if self.is_ended:
            return
        self.is_ended = True
        self.reason = reason
        self._texts.close()
        if self._error is None:
            self._status = status
            self._error = error
        word = "" if reason is None else f", in the wire's words {reason!r}"
        self._notes.decision("ended", offset, f"the response is over: {self._status}{word}")
        if self.calls:
            self._end_calls(offset, runs)
        if self.catch_up is not None:
            self.catch_up()
        self._ended = picture(self, False)
        self._notes_at_end = self._notes.count
        self.lanes.emit(ResponseEnded(self._ended))
        if is_final:
            self.lanes.close()

    def _end_calls(self, offset: int | None, runs: bool) -> None:
        if self._status == "completed":
            for call, twin in self._twins.pairs():
                detail = f"two calls carry the id {call._call_id!r}"
                self.conflict("call_id_reused", offset, detail, call, twin)
        for call in list(self.calls):
            self._end_call(call, offset, runs)
        self.prove_calls()

    def _end_call(self, call: ToolCall, offset: int | None, runs: bool) -> None:
        if call._state == "streaming":
            self.void_call(call, "incomplete", offset, "")
        elif call._state == "done":
            if self._status == "completed" and runs:
                self._release(call, offset)
            elif self._status == "completed":
                detail = f"the response ended as {self.reason!r}, which asks for no call to be run"
                self.void_call(call, "not_requested", offset, detail)
            else:
                self.void_call(call, "response_not_completed", offset, "")
        if call._problem == "incomplete" and self._status == "completed":
            detail = f"{call._name or 'an unnamed tool'}, {call._call_id}: {shown(call.arguments[-60:])} at its end"
            self.anomaly("cut_call_in_completed_response", offset, detail)

    @property
    def status(self) -> Status:
        return self._status

    def response(self, *, clean_end: bool = False) -> Response:
        """The response so far. The one that told the end is as good as a new one if nothing was noted since."""
        clean_end = clean_end and self.is_end_clean
        ended = self._ended
        if ended is None or self.is_faulted or self._has_changed(ended):
            return picture(self, clean_end)
        return ended if ended.clean_end == clean_end else replace(ended, clean_end=clean_end)

    def _has_changed(self, ended: Response) -> bool:
        return self._notes.count != self._notes_at_end or self.usage is not ended.usage
