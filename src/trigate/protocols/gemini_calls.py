"""The function calls of one Gemini candidate: whole parts, and calls whose arguments come value by value.

Rules
 - A part is a call of its own, whatever its name. Only willContinue makes the parts after it belong to it.
 - Parts carry no index: while a call is open, a part that names another one leaves it unclear to whom later
   values belong, so the stream is in conflict. Only an equal id proves that a named part goes on with it.
 - A finishReason may come with every chunk. But a call that is equal to one before it, both without an id, may
   be a second delivery: what cannot be told apart does not run twice.
"""

from __future__ import annotations

from trigate.calls import ToolCall
from trigate.framing import Frame
from trigate.protocols.gemini_arguments import PartialArguments
from trigate.protocols.gemini_wire import FunctionCall, PartialArg, PlainCall
from trigate.protocols.wire import decode, is_given
from trigate.turn import Turn

__all__ = ["CandidateCalls"]


class _Open:
    """A call of which more will come, and the values that it was given one by one."""

    __slots__ = ("call", "is_whole", "values")

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.is_whole = False  # its arguments came as args
        self.values: PartialArguments | None = None


class CandidateCalls:
    """Takes the functionCall parts of one candidate, in order of arrival."""

    def __init__(self, turn: Turn, choice: int) -> None:
        self._turn = turn
        self._choice = choice
        self._count = 0
        self._open: _Open | None = None
        self._made: dict[tuple[str, str], None] = {}  # an empty set weighs three times as much
        self._finished: dict[tuple[str, str], None] = {}

    def take(self, part: FunctionCall | PlainCall, event: Frame) -> None:
        """One functionCall, of which this is the whole or the next piece."""
        current = self._open
        if current is not None and (part.id or part.name):
            current = self._continued(current, part, event)
        if current is None:
            if not self._begins(part, event):
                return
            current = self._begin(part, event)
        if part.args:
            self._take_whole(current, part, event)
        for told in part.partialArgs or ():
            arg = told if isinstance(told, PartialArg) else decode(told, PartialArg, event)
            self._take_value(current, arg, event)
        if part.willContinue:
            self._open = current
        else:
            self._open = None
            self._close(current, event)

    def _continued(self, current: _Open, part: FunctionCall | PlainCall, event: Frame) -> _Open | None:
        """The open call, if a part that names a call belongs to it."""
        has_its_id = bool(part.id) and part.id == current.call.call_id
        if has_its_id or (not part.name and current.call.call_id is None):
            self._turn.identify(current.call, part.id, part.name, event.start)
            return current
        self._open = None
        detail = f"a call of {part.name!r} begins while one of {current.call.name!r} is to go on"
        self._turn.conflict("call_not_closed", event.start, detail, current.call)
        return None

    def _begins(self, part: FunctionCall | PlainCall, event: Frame) -> bool:
        """Whether the part can begin a call. Values without one belong to a call that was lost or closed."""
        if part.name or part.id or is_given(part.args):
            return True
        if part.partialArgs or part.willContinue:
            self._turn.conflict("orphan_arguments", event.start, "arguments that belong to no open call")
        else:
            self._turn.anomaly("empty_function_call", event.start, "it closes a call, but none is open")
        return False

    def _begin(self, part: FunctionCall | PlainCall, event: Frame) -> _Open:
        turn = self._turn
        call = turn.open_call(
            (self._choice, self._count), index=len(turn.calls), kind="function", offset=event.start
        )
        self._count += 1
        turn.identify(call, part.id, part.name, event.start)
        turn.announce(call)
        return _Open(call)

    def _take_whole(self, current: _Open, part: FunctionCall | PlainCall, event: Frame) -> None:
        """args: the whole object. Beside streamed values an empty one says nothing."""
        if not is_given(part.args):
            return
        text = bytes(part.args).decode()
        is_streamed = current.values is not None or part.partialArgs or part.willContinue
        if is_streamed and "".join(text.split()) == "{}":
            return
        if current.values is not None:
            self._contradict(current, "the arguments come whole and in values", event)
        else:
            self._turn.confirm_arguments(current.call, text, event.start, "a later part")
            current.is_whole = bool(current.call.arguments)

    def _take_value(self, current: _Open, arg: PartialArg, event: Frame) -> None:
        values = current.values
        if values is None:
            values = current.values = PartialArguments(self._turn.options.limits.max_depth)
        if current.is_whole:
            self._contradict(current, "the arguments come whole and in values", event)
            return
        contradiction = values.add(arg, event.start)
        if contradiction is not None:
            self._contradict(current, contradiction, event)

    def _contradict(self, current: _Open, detail: str, event: Frame) -> None:
        self._turn.conflict("arguments_differ", event.start, detail, current.call)

    def _close(self, current: _Open, event: Frame) -> None:
        turn, call = self._turn, current.call
        if current.values is not None and not current.is_whole:
            problem = current.values.problem()
            if problem is not None:
                # Without its text: what was half received must not look like a whole object.
                turn.void_call(call, problem[0], event.start, problem[1])
            else:
                turn.add_arguments(call, current.values.text(), event.start)
        made = (call.name, call.arguments)
        self._made[made] = None
        if call.call_id is None and made in self._finished:
            detail = (
                f"an equal call of {call.name} came before a finishReason: nothing says that this is another"
            )
            turn.void_call(call, "repeated", event.start, detail)
        turn.close_call(call, event.start)

    def finish(self) -> None:
        """A finishReason came. Equal calls without ids on both sides of it may be one that was sent twice."""
        self._finished |= self._made
