"""The comparison on which every test of prediction rests: one stream, read fast and read event by event.

Rules
 - Both parsers get the same chunks, and after each of them all that a caller can see must be equal: the items of that
   chunk, the response so far, the calls that were handed out and go on living, and the count of what is kept.
 - At the end the response, what may be sent back, and what raise_for_status() raises.
 - `hits` says how many events were taken unread: a test that means to see the fast path asserts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

import trigate
from trigate._core import _use_prediction

__all__ = ["Pair", "both", "described", "feeds", "made", "predicting", "read", "unread"]

Told: TypeAlias = tuple[Any, ...]


@contextmanager
def predicting(wanted: bool) -> Iterator[None]:
    """Whether parsers that are made inside predict."""
    was = _use_prediction(wanted)
    try:
        yield
    finally:
        _use_prediction(was)


def made(protocol: str, *, fast: bool, **options: Any) -> trigate.ResponseParser:
    with predicting(fast):
        return trigate.ResponseParser(protocol, **options)


def feeds(data: bytes, chunks: Iterable[bytes] | int | None) -> Sequence[bytes]:
    """The chunks: as they are given, or of this size, or all in one."""
    if chunks is None:
        return [data]
    if isinstance(chunks, int):
        return [data[at : at + chunks] for at in range(0, len(data), chunks)]
    return list(chunks)


# -- what can be seen ----------------------------------------------------------------------------------


def _call(call: trigate.ToolCall) -> Told:
    return (
        type(call).__name__,
        call.call_id,
        call.name,
        call.arguments,
        call.kind,
        call.state,
        call.problem,
        call.index,
        call.wire_key,
        call.flags,
    )


def described(value: Any) -> Any:
    """An item or a response as plain values, as it is now: a live call changes later."""
    if isinstance(value, trigate.ToolCall):
        return _call(value)
    if isinstance(value, msgspec.Struct):
        members = [(name, described(getattr(value, name))) for name in value.__struct_fields__]
        return (type(value).__name__, *members)
    if isinstance(value, tuple):
        return tuple(map(described, value))
    return repr(value) if isinstance(value, dict | list) else value  # NaN is not equal to itself


def _outcome(action: Callable[[], Any]) -> Any:
    """What an action gives, or what it raises, member by member."""
    try:
        return described(action())
    except (trigate.TrigateError, ValueError, TypeError) as error:
        members = [getattr(error, name, None) for name in ("code", "layer", "offset", "limit", "type")]
        return (type(error).__name__, str(error), *members)


@dataclass
class _Side:
    """One of the two parsers, and the live calls that it has handed out."""

    parser: trigate.ResponseParser
    calls: list[trigate.ToolCall] = field(default_factory=list)

    def feed(self, chunk: bytes, *, seen: bool) -> dict[str, Any]:
        """All that can be seen after one chunk; seen: the response and the live calls too."""
        items = self.parser.feed(chunk)
        self.calls += [item.call for item in items if isinstance(item, trigate.ToolCallStarted)]
        lanes = self.parser._turn.lanes
        told = {
            "items": tuple(map(described, items)),
            "counts": (lanes.kept, lanes.sequence, lanes.is_closed),
        }
        if seen:
            told["response"] = described(self.parser.response)
            told["live calls"] = tuple(map(_call, self.calls))
        return told

    def finish(self) -> dict[str, Any]:
        response = self.parser.finish()
        return {
            "response": described(response),
            "response so far": described(self.parser.response),
            "items": tuple(map(described, self.parser._rest())),
            "live calls": tuple(map(_call, self.calls)),
            "message": _outcome(response.to_message),
            "results": [
                _outcome(lambda call=call: response.tool_result_message(call, "x"))  # type: ignore[misc]
                for call in response.calls
            ],
            "values": [_outcome(call.value) for call in response.released],
            "raised": _outcome(response.raise_for_status),
        }


@dataclass(frozen=True)
class Pair:
    """What both found. hits: events that one of them took unread."""

    response: trigate.Response
    hits: int


def _check(found: dict[str, Any], due: dict[str, Any], where: str) -> None:
    for what, value in due.items():
        assert found[what] == value, f"{what}, {where}"


def both(
    data: bytes,
    protocol: str,
    chunks: Iterable[bytes] | int | None = None,
    *,
    seen: bool = True,
    **options: Any,
) -> Pair:
    """Reads the stream twice and compares at every chunk.

    chunks: as they are to be fed, or their size; None for all in one. seen: compares the response after every
    chunk too, which costs the more the longer it is.
    """
    fast = _Side(made(protocol, fast=True, **options))
    slow = _Side(made(protocol, fast=False, **options))
    fed = 0
    for chunk in feeds(data, chunks):
        fed += len(chunk)
        _check(fast.feed(chunk, seen=seen), slow.feed(chunk, seen=seen), f"after {fed} bytes")
    _check(fast.finish(), slow.finish(), "at the end")
    assert slow.parser._turn.lanes._hits == 0
    return Pair(fast.parser.finish(), fast.parser._turn.lanes._hits)


def read(protocol: str, frames: list[bytes] | bytes, least: int, **options: Any) -> trigate.Response:
    """The response, read in two ways, whole and frame by frame. least: how many events are taken unread at least."""
    data = frames if isinstance(frames, bytes) else b"".join(frames)
    pairs = [both(data, protocol, **options)]
    if not isinstance(frames, bytes):
        pairs.append(both(data, protocol, frames, **options))
    assert min(pair.hits for pair in pairs) >= least
    return pairs[0].response


def unread(data: bytes, protocol: str, chunks: Iterable[bytes] | int | None = None) -> int:
    """How many events are taken unread: one reading, compared with nothing."""
    parser = made(protocol, fast=True)
    for chunk in feeds(data, chunks):
        parser.feed(chunk)
    parser.finish()
    return parser._turn.lanes._hits
