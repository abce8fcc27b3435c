"""One tool call, from the first sign of it to the permission to run.

Rules
 - `streaming` -> `done` -> `released`, or `void` with a problem. There is no way back from `void`.
 - A ToolCall has no method that yields a parsed value. Only a ReleasedCall has, and only the parser makes one.
 - `call_id` is what the result must carry; `wire_key` routes fragments and never leaves the stream's side.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from trigate._core import Lane
from trigate.errors import ModelError
from trigate.text import printable, shortened
from trigate.validate import decode_object

__all__ = ["CallKind", "CallState", "ReleasedCall", "ToolCall", "WireKey"]

CallKind: TypeAlias = Literal["function", "custom", "builtin"]
CallState: TypeAlias = Literal["streaming", "done", "released", "void"]
WireKey: TypeAlias = tuple[int | str, ...]

_T = TypeVar("_T")


class ToolCall:
    """A call that the model asks for, as far as it has come. Read-only; live while it streams.

    call_id    what the result must carry; None where the wire gave none
    name       the tool's name, "" until it is known
    arguments  the exact text so far
    kind       "function": arguments are one JSON object. "custom": free text, no JSON rule.
               "builtin": a tool that the provider defines and the client runs (shell, apply_patch, computer ...);
               arguments are the item's own members as one JSON object
    state      "streaming", "done", "released" or "void"
    problem    why it is void: "incomplete", "malformed", "duplicate_key", "conflict", "no_call_id",
               "no_name", "repeated", "unknown_type", "not_for_client", "not_requested",
               "response_not_completed", "refused" (by a CallGate); else None
    index      its position as the wire counts
    wire_key   what routes its fragments
    flags      what was remarkable: "empty_arguments", "lone_surrogate", "arguments_not_string" ...
    start      first byte of the event that opened it, in bytes from the start of the stream
    end        just past the event that closed it; None while it streams. Where it stood takes no part in equality
    """

    __slots__ = (
        "_call_id",
        "_end",
        "_flags",
        "_index",
        "_kind",
        "_lane",
        "_name",
        "_position",
        "_problem",
        "_start",
        "_state",
        "_wire_key",
    )
    __match_args__ = ("call_id", "name", "arguments")

    _call_id: str | None
    _name: str
    _lane: Lane
    _position: int
    _kind: CallKind
    _state: CallState
    _problem: str | None
    _index: int
    _wire_key: WireKey
    _flags: tuple[str, ...]
    _start: int | None
    _end: int | None

    def __init__(self, wire_key: WireKey, *, index: int, kind: CallKind, lane: Lane | None = None) -> None:
        if type(self) is not ToolCall:
            raise TypeError("a ReleasedCall is made by the parser alone, when the call may run")
        self._call_id = None
        self._name = ""
        self._lane = Lane() if lane is None else lane
        self._position = -1
        self._kind = kind
        self._state = "streaming"
        self._problem = None
        self._index = index
        self._wire_key = wire_key
        self._flags = ()
        self._start = None
        self._end = None

    @property
    def call_id(self) -> str | None:
        return self._call_id

    @property
    def name(self) -> str:
        return self._name

    @property
    def arguments(self) -> str:
        return self._lane.text

    @property
    def kind(self) -> CallKind:
        return self._kind

    @property
    def state(self) -> CallState:
        return self._state

    @property
    def problem(self) -> str | None:
        return self._problem

    @property
    def index(self) -> int:
        return self._index

    @property
    def wire_key(self) -> WireKey:
        return self._wire_key

    @property
    def flags(self) -> tuple[str, ...]:
        return self._flags

    @property
    def start(self) -> int | None:
        return self._start

    @property
    def end(self) -> int | None:
        return self._end

    def _members(self) -> tuple[object, ...]:
        return (
            self._call_id,
            self._name,
            self.arguments,
            self._kind,
            self._state,
            self._problem,
            self._index,
            self._wire_key,
            self._flags,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolCall):
            return NotImplemented
        return type(self) is type(other) and self._members() == other._members()

    def __hash__(self) -> int:
        return hash((self._wire_key, self._index))

    def __repr__(self) -> str:
        problem = f" problem={self._problem!r}" if self._problem else ""
        return (
            f"<{type(self).__name__} {printable(self._name) or '?'}({printable(shortened(self.arguments, 60))}) "
            f"call_id={self._call_id!r} state={self._state!r}{problem}>"
        )


class ReleasedCall(ToolCall):
    """A call that may run: whole, valid, and confirmed as the release policy asks. Made by the parser alone."""

    __slots__ = ()

    def value(self) -> dict[str, Any]:
        """The arguments as a dict, made anew each time; {} for empty ones. TypeError for a custom call."""
        if self._kind == "custom":
            raise TypeError("a custom call's arguments are free text: read .arguments")
        return decode_object(self.arguments)

    def decode(self, type: type[_T]) -> _T:  # noqa: A002 - the public name, as msgspec has it
        """The arguments as `type`, by msgspec, without coercion.

        ModelError (layer model, code invalid_arguments) says what was expected and where.
        """
        try:
            return msgspec.convert(self.value(), type=type, strict=True)
        except msgspec.ValidationError as error:
            raise ModelError(
                f"the arguments of {self._name} do not fit {getattr(type, '__name__', type)}: {error}",
                code="invalid_arguments",
            ) from error


def generated_id(*seed: str) -> str:
    """An id for a call that has none: the same for the same seed."""
    text = "\x1f".join(seed)
    return "tg_" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def snapshot(call: ToolCall) -> ToolCall:
    """A copy that no later event changes; a ReleasedCall is one already."""
    return call if isinstance(call, ReleasedCall) else _copy(call, ToolCall)


def voided(call: ToolCall, problem: str) -> ToolCall:
    """A copy that may not run."""
    twin = _copy(call, ToolCall)
    twin._state = "void"
    twin._problem = problem
    return twin


def release(call: ToolCall) -> ReleasedCall:
    """The parser's own act: the one place where a ReleasedCall comes from."""
    if call._state != "done":
        raise RuntimeError(f"only a done call can be released, not a {call._state} one")
    released = _copy(call, ReleasedCall)
    released._state = "released"
    return released


_C = TypeVar("_C", bound=ToolCall)


def _copy(call: ToolCall, cls: type[_C]) -> _C:
    twin = cls.__new__(cls)
    twin._call_id = call._call_id
    twin._name = call._name
    twin._lane = Lane(call._lane.text)
    twin._position = call._position
    twin._kind = call._kind
    twin._state = call._state
    twin._problem = call._problem
    twin._index = call._index
    twin._wire_key = call._wire_key
    twin._flags = call._flags
    twin._start = call._start
    twin._end = call._end
    return twin


def label(call: ToolCall) -> str:
    """A call as messages name it."""
    return f"{call._name or 'an unnamed call'} ({call._call_id})"
