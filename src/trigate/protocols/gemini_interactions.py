"""Gemini's Interactions API, as a stream: docs/protocols/gemini-interactions.md.

Rules
 - event_type inside the JSON is the authority, the event's name a check. A step's index routes; results go
   back by the id of the function_call step.
 - step.stop closes the arguments and proves no more: nobody says whether a limit closes the last step, too.
   Calls may run when the interaction requires_action.
 - interaction.completed tells that the stream is over, not that it went well: its status does. A status that
   came earlier is provisional until then, until [DONE], or until the input ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.errors import StructureError
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols import gemini_interactions_answers as answers
from trigate.protocols.event_names import EventNames
from trigate.protocols.gemini_interactions_steps import SERVER_STEPS, StepState, same_value
from trigate.protocols.gemini_interactions_wire import (
    SHAPES,
    USUAL,
    Delta,
    Head,
    Interaction,
    Step,
    StepEvent,
    failure_of,
    interaction_of,
    status_of,
    step_of,
    usage_of,
)
from trigate.protocols.profile import Profile
from trigate.protocols.wire import as_json_text, attempt, decode, error_info, fields_of, is_given, says_error
from trigate.response import ErrorInfo, Response, ServerCall
from trigate.turn import Turn

__all__ = ["GeminiInteractions"]

PROFILE = Profile(
    closes_arguments=("step.stop",),
    completes_call=("status requires_action",),
    asks_to_run=("requires_action",),
    ends_well=("completed",),
    ends_otherwise={
        "incomplete": "incomplete",
        answers.CONTINUES: "incomplete",
        "idle": "incomplete",
        "budget_exceeded": "failed",
        "failed": "failed",
        "cancelled": "cancelled",
    },
    unknown_end="failed",
    terminal=("interaction.completed", "after such a status: [DONE] or the end of the input", "error"),
    noise=("[DONE]",),
)
#: Statuses that say that the interaction goes on.
GOES_ON = ("queued", "in_progress")
#: Statuses from which it may go on: those of the other bad ones are final.
_PAUSES = (answers.CONTINUES, "idle")
_STEPS = ("model_output", "thought", "user_input", "function_result")
_MEDIA = ("image", "audio", "video", "document")

_EVENTS = (
    *("interaction.created", "interaction.completed", "interaction.status_update"),
    *("step.start", "step.delta", "step.stop", "error"),
)


class GeminiInteractions:
    """Reads the events of one interaction into a Turn."""

    name: ClassVar[str] = "gemini-interactions"
    framings: ClassVar[tuple[Framing, ...]] = ("sse",)
    requires_call_id: ClassVar[bool] = True
    profile: ClassVar[Profile] = PROFILE
    shapes: ClassVar[Shapes | None] = SHAPES

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._steps: dict[int, StepState] = {}
        self._all_steps: list[StepState] = []
        self._word: str | None = None  # the provisional end
        self._bad: str | None = None  # a status from which nothing leads to calls that are to be run
        self._has_begun = False
        self._names = EventNames(turn, _EVENTS)
        self._has_sentinel = False
        self._taken: dict[str, int] = {}

    @staticmethod
    def to_message(response: Response) -> Any:
        return answers.to_message(response)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        return answers.tool_result_message(response, call, content, is_error)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        """Whether a first event belongs to this protocol (for `auto`)."""
        kind = value.get("event_type")
        return isinstance(kind, str) and kind.startswith(("interaction.", "step."))

    # -- one event ---------------------------------------------------------------------------------

    def event(self, event: Frame) -> None:
        data = event.data_bytes.strip()
        name = event.event
        head = attempt(data, USUAL.get(name, Head))
        is_over = self._has_sentinel or self._turn.is_ended
        if head is None or is_over or head.event_type != name or head.error or name.endswith("error"):
            self._take_odd(data, event)
        elif not self._is_repeated(head.event_id, data, event):
            self._check_name(name, event)
            self._dispatch(name, head, data, event)

    def _take_odd(self, data: bytes, event: Frame) -> None:
        """An event that may be anything: its name and its type are not one, or it tells of an error."""
        turn = self._turn
        if not data:
            return
        if self._has_sentinel and data != b"[DONE]":
            turn.anomaly("event_after_end", event.start, "after the sentinel [DONE]", once=True)
            return
        if data == b"[DONE]":
            self._has_sentinel = True
            if self._word is not None and not turn.is_ended:
                self._end(self._word, None, event)
            return
        if event.event == "error" and data[:1] not in b"{[":
            self._fail(data.decode(), event)
            return
        head = decode(data, Head, event)
        kind = head.event_type or ("" if event.event == "message" else event.event)
        if turn.is_ended:
            turn.anomaly("event_after_end", event.start, f"{kind or 'an event'} after the end")
        elif event.event == "error" or says_error(kind, _told(head.error, event), data, event):
            # Whichever of the two says so: after an error nothing may run.
            self._fail(fields_of(data, event), event)
        elif not self._is_repeated(head.event_id, data, event):
            self._check_name(kind, event)
            self._dispatch(kind, head, data, event)

    def _fail(self, value: Any, event: Frame) -> None:
        if self._turn.is_ended:
            self._turn.anomaly("event_after_end", event.start, "error after the end")
            return
        error = error_info(value, event.start)
        self._keep_echo()
        self._turn.end("failed", None, error=error, offset=event.start)

    def _is_repeated(self, event_id: str | None, data: bytes, event: Frame) -> bool:
        """Whether this event was taken before. An id that comes back must not hide other content."""
        if not event_id:
            self._turn.numbering.lack(event.event, event.start)
            return False
        content = hash(data)
        if (known := self._taken.get(event_id)) is None:
            if self._turn.keep(len(event_id), event.start):
                self._taken[event_id] = content
                self._turn.numbering.event_id = event_id
            return False
        if known == content:
            self._turn.anomaly("repeated_event", event.start, f"event {event_id} came twice")
            return True
        self._turn.conflict("event_id_reused", event.start, f"two events carry the id {event_id!r}")
        return False

    def _check_name(self, kind: str, event: Frame) -> None:
        self._names.check(kind, event, self._open_calls)
        if not self._has_begun and kind != "interaction.created":
            self._turn.anomaly("missing_start", event.start, f"the first event is {kind!r}")
        self._has_begun = True

    def _open_calls(self) -> Iterator[ToolCall]:
        return (state.call for state in self._all_steps if state.call is not None and not state.is_stopped)

    def _dispatch(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        match kind:
            case "interaction.created" | "interaction.completed":
                self._interaction(kind, interaction_of(head, data, event), event)
            case "interaction.status_update":
                self._status_update(head, data, event)
            case "step.start":
                self._step_start(step_of(head, data, event), event)
            case "step.delta":
                self._step_delta(step_of(head, data, event), event)
            case "step.stop":
                self._step_stop(step_of(head, data, event), event)
            case _:
                self._unknown_event(kind, data, event)

    def _unknown_event(self, kind: str, data: bytes, event: Frame) -> None:
        self._turn.unknown(f"event type {kind!r}", event.start)
        self._turn.other(kind, event.data)
        value = fields_of(data, event)
        index = value.get("index") if isinstance(value, dict) else None
        state = self._steps.get(index) if isinstance(index, int) else None
        if state is not None and state.call is not None and not state.is_stopped:
            # It may bring a piece of the arguments: the rest of them must not run.
            detail = f"an event of type {kind!r} came for it"
            self._turn.void_call(state.call, "unknown_type", event.start, detail)

    # -- the interaction ---------------------------------------------------------------------------

    def _interaction(self, kind: str, shot: Interaction, event: Frame) -> None:
        turn = self._turn
        self._identify(shot.id, kind == "interaction.created", event)
        turn.model = turn.model or shot.model or None
        self._take_status(shot.status, event)
        if is_given(shot.usage):
            turn.count(usage_of(fields_of(bytes(shot.usage), event)))
        if is_given(shot.continuation_token):
            turn.other("continuation_token", bytes(shot.continuation_token).decode())
        if kind == "interaction.created":
            return
        for raw in shot.steps or ():
            self._confirm(decode(raw, Step, event), event)
        if shot.steps:
            self._find_missing(shot.steps, event)
        word = shot.status or self._word
        if word is None:
            raise StructureError(
                f"interaction.completed at byte {event.start} has no status",
                code="missing_status",
                offset=event.start,
            )
        self._end(word, shot, event)

    def _identify(self, interaction_id: str | None, is_start: bool, event: Frame) -> None:
        turn = self._turn
        if interaction_id and turn.id and interaction_id != turn.id:
            detail = f"{turn.id} became {interaction_id}"
            if is_start:
                turn.conflict("response_restarted", event.start, detail)
            else:
                turn.anomaly("response_id_changed", event.start, detail, once=True)
        turn.id = turn.id or interaction_id or None

    def _status_update(self, head: Head, data: bytes, event: Frame) -> None:
        message = status_of(head, data, event)
        self._identify(message.interaction_id, False, event)
        self._take_status(message.status, event)
        if is_given(message.usage):
            self._turn.count(usage_of(fields_of(bytes(message.usage), event)))
        if is_given(message.continuation_token):
            self._turn.other("continuation_token", bytes(message.continuation_token).decode())

    def _take_status(self, word: str | None, event: Frame) -> None:
        """The last one counts. But what was cut or failed does not become a turn that asks to run."""
        if not word:
            return
        old = self._bad or self._word
        if word in PROFILE.asks_to_run and old is not None and PROFILE.status_of(old) != "completed":
            self._turn.conflict("reason_changed", event.start, f"{old!r} became {word!r}")
        self._word = None if word in GOES_ON else word
        if self._word is not None and word not in _PAUSES and PROFILE.status_of(word) != "completed":
            self._bad = word
        if word in PROFILE.asks_to_run:
            self._turn.prove_calls(event.start)

    def _confirm(self, step: Step, event: Frame) -> None:
        """A step of the final list: its call must be the one that was streamed."""
        if step.type != "function_call":
            return
        for state in self._all_steps:
            call = state.call
            if call is None or not step.id or call.call_id != step.id:
                continue
            self._turn.identify(call, None, step.name, event.start)
            text, _ = as_json_text(step.arguments)
            if state.is_stopped and not same_value(text or "{}", call.arguments or "{}"):
                detail = f"the final list has other arguments for {call.name} {call.call_id}"
                self._turn.conflict("arguments_differ", event.start, detail, call)
            return
        # It may be one of an earlier turn that was answered long ago: it is not for this client to run.
        detail = f"function_call {step.id} in the final list alone"
        self._turn.anomaly("item_without_start", event.start, detail)

    def _find_missing(self, steps: list[Any], event: Frame) -> None:
        final = {decode(raw, Step, event).id for raw in steps}
        for state in self._all_steps:
            call = state.call
            if call is not None and call.call_id not in final:
                detail = f"{call.name} {call.call_id} is not in the final list"
                self._turn.conflict("call_missing_in_final_output", event.start, detail, call)

    # -- steps -------------------------------------------------------------------------------------

    def _step_start(self, message: StepEvent, event: Frame) -> None:
        turn = self._turn
        step = decode(message.step, Step, event)
        raw = bytes(message.step)
        if self._word is not None:
            turn.anomaly("step_after_status", event.start, f"a step begins after status {self._word!r}")
            self._word = None
        index = message.index
        if index is None:
            turn.anomaly("missing_index", event.start, "a step without index", once=True)
            index = max(self._steps, default=-1) + 1
        old = self._steps.get(index)
        if old is not None:
            if old.start == raw:
                turn.anomaly("repeated_item", event.start, f"step {index} began twice")
                return
            turn.anomaly("index_reused", event.start, f"index {index} has a second step")
            if old.call is not None and not old.is_stopped:
                # Pieces carry the index alone: nobody can say which of the two calls they belong to.
                detail = f"index {index} has a second step while the call of the first is open"
                turn.conflict("ambiguous_fragment", event.start, detail, old.call)
        if turn.keep(len(raw), event.start):
            self._open(index, step, raw, event)

    def _open(self, index: int, step: Step, raw: bytes, event: Frame) -> StepState:
        turn = self._turn
        state = StepState(index, step.type, raw, fields_of(raw, event))
        self._steps[index] = state
        self._all_steps.append(state)
        if step.type == "function_call":
            call = turn.open_call((index, step.id or ""), index=index, kind="function", offset=event.start)
            turn.identify(call, step.id, step.name, event.start)
            state.call = call
            state.first, _ = as_json_text(step.arguments)
            turn.announce(call)
        elif step.type in ("model_output", "thought"):
            for text in state.first_texts():
                self._add_text(state, text, event)
        elif step.type not in SERVER_STEPS and step.type not in _STEPS:
            turn.unknown(f"step type {step.type!r}", event.start)
        return state

    def _find(self, index: int | None, event: Frame) -> StepState | None:
        """The step of a fragment: by its index, else the only one that is open."""
        if index is not None:
            return self._steps.get(index)
        self._turn.anomaly("missing_index", event.start, "a fragment without index", once=True)
        unfinished = [state for state in self._all_steps if not state.is_stopped]
        return unfinished[0] if len(unfinished) == 1 else None

    def _step_delta(self, message: StepEvent, event: Frame) -> None:
        turn = self._turn
        delta = decode(message.delta, Delta, event)
        state = self._find(message.index, event)
        if delta.type == "arguments_delta":
            self._arguments(state, delta, event)
            return
        if state is None:
            turn.anomaly("delta_without_start", event.start, f"index {message.index}", once=True)
            state = self._stand_in(message.index, delta.type, event)
        if state is None:
            turn.other(delta.type, bytes(message.delta).decode())
            return
        if state.is_stopped:
            turn.anomaly("delta_after_close", event.start, f"index {state.index}", once=True)
        raw = bytes(message.delta)
        told = fields_of(raw, event)
        if state.goes_on(told):
            self._take_delta(state, delta, told, raw, event)
            self._follow(state, delta)
        elif turn.keep(len(raw), event.start):
            self._take_delta(state, delta, told, raw, event)

    def _follow(self, state: StepState, delta: Delta) -> None:
        turn = self._turn
        if state.text is not None and state.type == "model_output" and delta.type == "text":
            turn.follow_text(state.text, delta.text or "", state.index)

    def _stand_in(self, index: int | None, kind: str, event: Frame) -> StepState | None:
        """A step that never began, for text that is to be seen."""
        step_type = {"text": "model_output", "thought_summary": "thought"}.get(kind)
        if step_type is None:
            return None
        place = max(self._steps, default=-1) + 1 if index is None else index
        return self._open(place, Step(type=step_type), b'{"type":"%s"}' % step_type.encode(), event)

    def _take_delta(
        self, state: StepState, delta: Delta, told: dict[str, Any], raw: bytes, event: Frame
    ) -> None:
        turn = self._turn
        kind = delta.type
        state.add(told)
        if kind == "text" and delta.text:
            self._add_text(state, delta.text, event)
        elif kind == "thought_summary" and is_given(delta.content):
            text = decode(delta.content, Delta, event).text
            if text:
                self._add_text(state, text, event, is_thought=True)
        elif kind not in ("text", "thought_summary", "thought_signature"):
            if kind not in (*_MEDIA, "text_annotation_delta", state.type):
                turn.unknown(f"delta type {kind!r}", event.start)
            turn.other(kind, raw.decode())
        if state.call is not None and kind != "thought_signature":
            # What is not understood may be a piece of the arguments: the rest of them must not run.
            detail = f"a delta of type {kind!r} came for it"
            turn.void_call(state.call, "unknown_type", event.start, detail)

    def _add_text(self, state: StepState, text: str, event: Frame, *, is_thought: bool = False) -> None:
        turn = self._turn
        is_thought = is_thought or state.type == "thought"
        if state.text is None:
            state.text = turn.open_reasoning() if is_thought else turn.open_text()
        add = turn.add_reasoning if is_thought else turn.add_text
        add(state.text, text, state.index, event.start)

    def _arguments(self, state: StepState | None, delta: Delta, event: Frame) -> None:
        turn = self._turn
        text, is_string = as_json_text(delta.arguments)
        if state is not None and state.type in SERVER_STEPS:
            turn.other(delta.type, bytes(delta.arguments).decode())
        elif state is None or state.call is None:
            turn.conflict("orphan_arguments", event.start, "arguments that belong to no function call")
        elif state.is_stopped:
            turn.conflict("delta_after_close", event.start, "arguments go on after their end", state.call)
        elif text:
            if not is_string:
                turn.flag(state.call, "arguments_not_string")
            turn.add_arguments(state.call, text, event.start)
            turn.follow_arguments(state.call, text)

    def _step_stop(self, message: StepEvent, event: Frame) -> None:
        turn = self._turn
        state = self._find(message.index, event)
        if state is None or state.is_stopped:
            code = "stop_without_start" if state is None else "repeated_stop"
            turn.anomaly(code, event.start, f"step.stop for index {message.index}")
            return
        state.is_stopped = True
        if state.call is not None:
            self._close_call(state, event)
        elif state.type not in _STEPS:
            raw = state.to_echo().decode()
            if state.type in SERVER_STEPS:
                turn.server_call(_server_call(state, raw))
            turn.other(state.type, raw)

    def _close_call(self, state: StepState, event: Frame) -> None:
        turn, call = self._turn, state.call
        assert call is not None
        if state.first is not None and not call.arguments:
            turn.add_arguments(call, state.first, event.start)
        elif state.first and state.first.strip() != "{}" and not same_value(state.first, call.arguments):
            detail = f"the start of step {state.index} has other arguments than its deltas"
            turn.conflict("arguments_differ", event.start, detail, call)
        turn.close_call(call, event.start, is_proven=False)

    # -- the end -----------------------------------------------------------------------------------

    def _end(self, word: str, shot: Interaction | None, event: Frame | None) -> None:
        turn = self._turn
        offset = None if event is None else event.start
        status = PROFILE.status_of(word)
        error: ErrorInfo | None = None
        told = _error_of(shot, event)
        if status == "completed" and told:
            turn.anomaly("status_differs", offset, f"status {word!r} beside an error")
            status = "failed"
        if status in ("failed", "cancelled"):
            error = failure_of(word, told, offset)
        elif word in PROFILE.asks_to_run and not any(state.call for state in self._all_steps):
            status = "failed"
            message = f"the interaction ended as {word!r}, but has no function call"
            error = ErrorInfo("structure", "structure", "missing_call", message, offset)
        self._keep_echo()
        turn.end(status, word, error=error, offset=offset, runs=word in PROFILE.asks_to_run)

    def finish(self, left: Leftover) -> None:
        """The input is over without interaction.completed: an earlier status holds, if nothing is missing."""
        self._keep_echo()
        if self._word is not None and not left:
            self._end(self._word, None, None)

    def _keep_echo(self) -> None:
        self._turn.echo = tuple(state.to_echo() for state in self._all_steps if state.is_stopped)


def _told(raw: msgspec.Raw, event: Frame) -> Any:
    return fields_of(bytes(raw), event) if is_given(raw) else None


def _error_of(shot: Interaction | None, event: Frame | None) -> Any:
    """What the interaction says of its failure; None for nothing."""
    if shot is None or event is None:
        return None
    return _told(shot.error, event) or _told(shot.errors, event)


def _server_call(state: StepState, raw: str) -> ServerCall:
    def word(name: str) -> str | None:
        found = state.members.get(name)
        return found if isinstance(found, str) else None

    return ServerCall(state.type, word("id") or word("call_id"), word("name"), word("status"), raw)
