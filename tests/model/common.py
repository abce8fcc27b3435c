"""What every reader needs: the wire cut into events, the judgment of an argument text, the verdict over a turn.

Rules
 - The whole input is there at once. A reader of a frame gives events, what was left open, and whether it was broken.
 - An argument text is one strict JSON object, or it is a problem: nothing is repaired.
 - A call is released only of a turn that is completed, if it is whole, valid, named and not a repeat.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = [
    "FAULTS",
    "Event",
    "MalformedError",
    "Obj",
    "Outcome",
    "Read",
    "Turn",
    "Usage",
    "Wire",
    "argument_problem",
    "begins_whole",
    "compact",
    "eventstream",
    "json_array",
    "loads",
    "ndjson",
    "sse",
]


class MalformedError(ValueError):
    """Not strict JSON."""


class Obj(dict[str, Any]):
    """A JSON object that remembers whether a key came twice, at any depth below it."""

    doubled = False


#: What reading an event can raise: it is no JSON, or a member is missing or of another type than it must be.
FAULTS = (MalformedError, KeyError, TypeError, AttributeError)


def _refuse(word: str) -> Any:
    raise MalformedError(f"{word} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> Obj:
    made = Obj(pairs)
    made.doubled = len(made) < len(pairs) or any(_doubled(value) for _, value in pairs)
    return made


def _doubled(value: Any) -> bool:
    return (isinstance(value, Obj) and value.doubled) or (
        isinstance(value, list) and any(_doubled(entry) for entry in value)
    )


def loads(text: str) -> Any:
    """One strict JSON value, objects as Obj. MalformedError for all else."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except ValueError as error:
        raise MalformedError(str(error)) from error


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# -- argument texts ------------------------------------------------------------------------------------

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ESCAPE_ENDS = ["", "n", "0", "00", "000", "0000"]
_ENDINGS = [
    "",
    "{}",
    "0",
    "null",
    ":0",
    '"":0',
    *(word[cut:] for word in ("null", "true", "false") for cut in range(1, len(word))),
    *(escape + rest for escape in _ESCAPE_ENDS for rest in ('"', '":0')),
]


def _closers(text: str) -> str:
    """The brackets that would close what stands open."""
    bare = re.sub(r'".*', "", _STRING.sub("", text), flags=re.DOTALL)
    stack = ""
    for char in bare:
        if char in "{[":
            stack = ("}" if char == "{" else "]") + stack
        elif char in "}]":
            stack = stack[1:]
    return stack


def _could_become_an_object(text: str) -> bool:
    closers = _closers(text)
    for ending in _ENDINGS:
        try:
            if isinstance(loads(text + ending + closers), dict):
                return True
        except MalformedError:
            continue
    return False


def argument_problem(text: str) -> str | None:
    """None for one strict JSON object or nothing at all; else what is wrong with it."""
    if not text:
        return None
    try:
        value = loads(text)
    except MalformedError:
        return "incomplete" if _could_become_an_object(text) else "malformed"
    if not isinstance(value, Obj):
        return "malformed"
    return "duplicate_key" if value.doubled else None


def begins_whole(text: str) -> bool:
    """Whether the text begins with one whole JSON object, whatever follows it."""
    try:
        value, _ = json.JSONDecoder(parse_constant=_refuse).raw_decode(text)
    except ValueError:
        return False
    return isinstance(value, dict)


# -- the verdict ---------------------------------------------------------------------------------------


@dataclass
class Read:
    """One call as far as the wire told it. problem: why it may not run; released: that it may.

    place: where it stands among the others. group: its choice or candidate; ids are unique within one.
    """

    call_id: str | None = None
    name: str = ""
    arguments: str = ""
    place: tuple[int, ...] = ()
    group: int = 0
    custom: bool = False
    closed: bool = False
    problem: str | None = None
    released: bool = False


class Usage(NamedTuple):
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass
class Outcome:
    """The verdict. reason: the wire's word for its end; None as well where an error or a broken wire ended it."""

    status: str
    reason: str | None
    calls: list[Read]
    text: str
    usage: Usage | None
    by_error: bool


@dataclass
class Turn:
    """What a reader gathers. `end` is the status that the wire's own end gave, None before one.

    by_error: an error event or a broken wire ended it. ids_needed: a call without an id cannot be answered.
    asked: the end is one that asks for calls to be run.
    """

    end: str | None = None
    reason: str | None = None
    calls: list[Read] = field(default_factory=list)
    text: str = ""
    usage: Usage | None = None
    conflict: bool = False
    ids_needed: bool = True
    asked: bool = True
    by_error: bool = False

    def fail(self) -> None:
        """An error event came, or the wire is broken."""
        self.end, self.by_error, self.reason = "failed", True, None

    def needs(self, whole: bool) -> None:
        """A good end that leaves the last word open counts only if the input then ended at a border of the frame."""
        if self.end == "completed" and not whole:
            self.end = None

    def outcome(self) -> Outcome:
        """The verdict: calls judged one by one, then against each other, then by how the turn ended."""
        self.calls.sort(key=lambda call: call.place)
        seen: dict[tuple[str, int], Read] = {}
        for call in self.calls:
            call.problem = call.problem or self._problem(call)
            if call.call_id is None:
                continue
            first = seen.setdefault((call.call_id, call.group), call)
            if first is not call:
                if (first.name, first.arguments) == (call.name, call.arguments):
                    call.problem = "repeated"
                else:
                    self.conflict = True
        status = self.end or "truncated"
        if self.conflict:
            status = "conflict"
        for call in self.calls:
            call.released = status == "completed" and self.asked and call.problem is None
        reason = None if self.end is None or self.by_error else self.reason
        return Outcome(status, reason, self.calls, self.text, self.usage, self.by_error)

    def _problem(self, call: Read) -> str | None:
        found = None if call.custom else argument_problem(call.arguments)
        if found or not call.closed:
            return found or "incomplete"
        if not call.name:
            return "no_name"
        return "no_call_id" if call.call_id is None and self.ids_needed else None


# -- frames --------------------------------------------------------------------------------------------


class Event(NamedTuple):
    """name: the frame's own word for it, "" if it has none. data: its JSON text."""

    name: str
    data: str


class Wire(NamedTuple):
    """pending: the event that the end of input left unfinished. broken: the frame itself is wrong after these events.

    closed: the frame has a mark of its own for the end, and it came (or the frame has none).
    """

    events: list[Event]
    pending: Event | None = None
    broken: bool = False
    closed: bool = True


def _decoded(data: bytes) -> tuple[str, bool]:
    """The text up to the first byte that is not UTF-8, and whether there is such a byte."""
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError as error:
        cut_at_the_end = error.reason == "unexpected end of data"
        return data[: error.start].decode("utf-8"), not cut_at_the_end


def sse(data: bytes) -> Wire:
    """Server-sent events as WHATWG has them; an `error` field (old llama.cpp) is an event of that name."""
    text, broken = _decoded(data)
    lines = re.split("\r\n|\r|\n", text.removeprefix("\ufeff"))
    events: list[Event] = []
    name, pieces = "", None
    for line in lines[:-1]:
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if pieces is not None:
                events.append(Event(name, "\n".join(pieces)))
            name, pieces = "", None
        elif key == "data":
            pieces = [*(pieces or []), value]
        elif key == "event":
            name = value
        elif key == "error":
            events.append(Event("error", value))
    key, _, value = lines[-1].partition(":")
    if key == "data":
        pieces = [*(pieces or []), value.removeprefix(" ")]
    pending = None if pieces is None else Event(name, "\n".join(pieces))
    broken = broken or (not events and pending is None and _is_json(text))
    return Wire(events, None if broken else pending, broken, not lines[-1] and pieces is None and not name)


def _is_json(text: str) -> bool:
    """Whether this is the body of a plain answer: an error, most likely, and no stream."""
    try:
        return isinstance(loads(text), dict)
    except MalformedError:
        return False


def ndjson(data: bytes) -> Wire:
    """One JSON text a line, lines end at LF alone; blank ones mean nothing."""
    text, broken = _decoded(data)
    lines = text.removeprefix("\ufeff").split("\n")
    events = [Event("", line) for line in lines[:-1] if line.strip(" \t\r")]
    last = lines[-1].strip(" \t\r")
    return Wire(events, Event("", last) if last and not broken else None, broken)


def json_array(data: bytes) -> Wire:
    """The elements of one JSON array, cut by their braces."""
    text, broken = _decoded(data)
    place = len(text) - len(text.lstrip("[\ufeff \t\r\n"))
    events: list[Event] = []
    decoder = json.JSONDecoder(parse_constant=_refuse)
    while place < len(text) and text[place] == "{":
        try:
            _, end = decoder.raw_decode(text, place)
        except ValueError:
            whole = not _closers(text[place:])
            return Wire(events, None, broken or whole, False)
        events.append(Event("", text[place:end]))
        place = re.compile(r"[\s,]*").match(text, end).end()  # type: ignore[union-attr]
    rest = text[place:].strip()
    return Wire(events, None, broken or rest not in ("", "]"), rest == "]")


_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}


def _headers(block: bytes) -> dict[str, str]:
    """The string headers of one message; others are passed over."""
    found: dict[str, str] = {}
    place = 0
    while place < len(block):
        end = place + 1 + block[place]
        name, kind = block[place + 1 : end].decode(), block[end]
        place = end + 1
        if kind in (6, 7):
            size = int.from_bytes(block[place : place + 2], "big")
            value = block[place + 2 : place + 2 + size]
            place += 2 + size
            if kind == 7:
                found[name] = value.decode()
        else:
            place += _SIZES[kind]
    return found


def eventstream(data: bytes) -> Wire:
    """AWS event-stream messages, both checksums verified. An exception or error message is named `!` and its type."""
    events: list[Event] = []
    place = 0
    while len(data) - place >= 12:
        total, headed, check = (int.from_bytes(data[place + at : place + at + 4], "big") for at in (0, 4, 8))
        if zlib.crc32(data[place : place + 8]) != check or total < headed + 16:
            return Wire(events, broken=True)
        message = data[place : place + total]
        if len(message) < total:
            break
        if zlib.crc32(message[:-4]) != int.from_bytes(message[-4:], "big"):
            return Wire(events, broken=True)
        headers = _headers(message[12 : 12 + headed])
        payload = message[12 + headed : -4].decode("utf-8", "replace")
        if headers.get(":message-type") == "event":
            events.append(Event(headers.get(":event-type", ""), payload))
        else:
            events.append(
                Event("!" + headers.get(":exception-type", headers.get(":error-code", "")), payload)
            )
        place += total
    return Wire(events, closed=place == len(data))
