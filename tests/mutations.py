"""Ways to damage a stream, one frame at a time, and the ways of damage that a wire cannot show.

Rules
 - A mutant differs from its stream in one place: a frame lost, doubled, swapped with the next, cut, or one bit flipped.
 - `explain` looks only at what the mutation did to the frame and at the calls before and after. It knows no parser.
 - It explains a call that the stream did not hold only by one of the classes below, each checked to the letter; what
   it cannot explain is a fault. CANNOT_SHOW says which classes a protocol has, and why.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from model import frames

__all__ = ["CANNOT_SHOW", "Mutant", "Told", "explain", "mutants"]


class Told(NamedTuple):
    """What a released call tells its runner."""

    call_id: str | None
    name: str
    arguments: str


class Mutant(NamedTuple):
    """kind, the place of the frame, the frames before and after: of the hit one alone, or of two that are swapped."""

    kind: str
    place: int
    before: tuple[bytes, ...]
    after: tuple[bytes, ...]
    following: bytes
    data: bytes


def _flipped(frame: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(frame))
    return frame[:at] + bytes([frame[at] ^ (1 << chance.randrange(8))]) + frame[at + 1 :]


def mutants(stream: list[bytes], chance: random.Random, flips: int) -> Iterator[Mutant]:
    """Every frame dropped, doubled, swapped, cut at the end of input and cut in mid-stream; `flips` bits flipped."""

    def made(kind: str, place: int, after: tuple[bytes, ...], *, width: int = 1, end: bool = False) -> Mutant:
        rest = [] if end else stream[place + width :]
        data = frames.join([*stream[:place], *after, *rest])
        following = rest[0] if rest else b""
        return Mutant(kind, place, tuple(stream[place : place + width]), after, following, data)

    for place, frame in enumerate(stream):
        part = frame[: chance.randrange(1, len(frame))]
        yield made("drop", place, ())
        yield made("repeat", place, (frame, frame))
        yield made("truncate", place, (part,), end=True)
        yield made("hole", place, (part,))
        if place + 1 < len(stream):
            yield made("swap", place, (stream[place + 1], frame), width=2)
    for _ in range(flips):
        place = chance.randrange(len(stream))
        yield made("flip", place, (_flipped(stream[place], chance),))


# -- what a frame holds --------------------------------------------------------------------------------


def _payload(protocol: str, frame: bytes) -> Any:
    """The JSON of a frame, None if there is none to be had."""
    try:
        if protocol in frames.BINARY:
            headed = int.from_bytes(frame[4:8], "big")
            event = json.loads(frame[12 + headed : -4])
            return json.loads(base64.b64decode(event["bytes"])) if "bytes" in event else event
        if protocol in frames.LINES:
            return json.loads(frame)
        lines = re.split("\r\n|\r|\n", frame.decode())
        return json.loads("".join(line[5:] for line in lines if line.startswith("data:")))
    except (ValueError, KeyError):
        return None


#: Where the pieces of argument text are: the members from the outermost on; of a list, each element.
_PIECES: dict[str, list[tuple[str, ...]]] = {
    "openai-chat": [("choices", "delta", "tool_calls", "function", "arguments")],
    "anthropic-messages": [("delta", "partial_json")],
    "bedrock-invoke": [("delta", "partial_json"), ("contentBlockDelta", "delta", "toolUse", "input")],
    "gemini": [("candidates", "content", "parts", "functionCall", "partialArgs", "stringValue")],
    "gemini-interactions": [("delta", "arguments")],
    "bedrock-converse": [("delta", "toolUse", "input")],
    "cohere-chat": [("delta", "message", "tool_calls", "function", "arguments")],
}


def _at(value: Any, path: tuple[str, ...]) -> list[Any]:
    if isinstance(value, list):
        return [found for entry in value for found in _at(entry, path)]
    if not path:
        return [value]
    return _at(value[path[0]], path[1:]) if isinstance(value, dict) and path[0] in value else []


def _pieces(protocol: str, frame: bytes) -> list[str]:
    """The pieces of argument text in a frame, empty ones left out."""
    payload = _payload(protocol, frame)
    found = [piece for path in _PIECES.get(protocol, []) for piece in _at(payload, path)]
    return [piece for piece in found if isinstance(piece, str) and piece]


def _paths(frame: bytes) -> list[str]:
    """Gemini's: at which paths of the arguments a frame puts values."""
    members = ("candidates", "content", "parts", "functionCall", "partialArgs", "jsonPath")
    return [str(path) for path in _at(_payload("gemini", frame), members)]


# -- the classes ---------------------------------------------------------------------------------------


def _without(text: str, piece: str) -> set[str]:
    """The texts that are left if one occurrence of the piece is taken out."""
    places = [at for at in range(len(text)) if text.startswith(piece, at)]
    return {text[:at] + text[at + len(piece) :] for at in places}


def _doubled(text: str, piece: str) -> set[str]:
    places = [at for at in range(len(text)) if text.startswith(piece, at)]
    return {text[:at] + piece + text[at:] for at in places}


def _swapped(text: str, first: str, second: str) -> set[str]:
    places = [at for at in range(len(text)) if text.startswith(first + second, at)]
    end = len(first) + len(second)
    return {text[:at] + second + first + text[at + end :] for at in places}


def _replaced(text: str, lost: list[str], kept: list[str]) -> set[str]:
    """The texts in which the one piece that differs stands in place of what it was."""
    pairs = [(was, now) for was, now in zip(lost, kept, strict=True) if was != now]
    if len(pairs) != 1:
        return set()
    was, now = pairs[0]
    places = [at for at in range(len(text)) if text.startswith(was, at)]
    return {text[:at] + now + text[at + len(was) :] for at in places}


def _edit(before: str, after: str) -> tuple[str, str]:
    """What differs between two texts, without what they begin and end with alike."""
    start = end = 0
    shorter = min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


#: What one flipped bit makes of a text: another character; or \\u00e9 becomes x and the character, or \\t00e9.
SHORT_EDIT, LONG_EDIT = 2, 6


def _value_changed(old: Told, new: Told) -> bool:
    """One of the three members differs, in one character or escape."""
    pairs = [(str(a), str(b)) for a, b in zip(old, new, strict=True) if a != b]
    if len(pairs) != 1:
        return False
    sizes = [len(text) for text in _edit(*pairs[0])]
    return 1 <= min(sizes) <= SHORT_EDIT and max(sizes) <= LONG_EDIT


_SSE = {"openai-chat", "anthropic-messages", "gemini", "gemini-interactions", "cohere-chat"}


def _unread(protocol: str, mutant: Mutant) -> str | None:
    """Why the piece of a damaged frame was passed over: a member has another name, or a line another field."""
    (after,) = mutant.after
    if protocol not in _SSE:
        return "member_unread" if mutant.kind == "flip" else None
    if (
        mutant.kind == "hole"
    ):  # what is left stands before the next frame's first line and becomes its field name
        remnant = re.split(rb"\r\n|\r|\n", after)[-1]
        return "line_unread" if b":" not in remnant else None
    payload = _payload(protocol, after)
    if payload is None:
        return "line_unread"
    was = _payload(protocol, mutant.before[0])
    kinds = [event.get("type", event.get("event_type")) for event in (was, payload)]
    return "member_unread" if kinds[0] == kinds[1] else None  # another type is an event that can be seen


def _value_lost(old: str, new: str, path: str) -> bool:
    """Whether the arguments are the old ones without the value at the path."""
    steps = [int(index) if index else word for word, index in re.findall(r"\.([^.\[]+)|\[(\d+)\]", path)]
    value = json.loads(old)
    here = value
    for step in steps[:-1]:
        here = here[step]
    here.pop(steps[-1], None)
    return bool(value == json.loads(new or "{}"))


def _lost(protocol: str, old: Told, new: Told, frame: bytes) -> str | None:
    """What of the frame is missing: a piece of text, or Gemini's value at a path.

    Where the piece was the only one, what is left is nothing, or the empty object of the call's start.
    """
    left = {text for piece in _pieces(protocol, frame) for text in _without(old.arguments, piece)}
    if new.arguments in left or ("" in left and new.arguments == "{}"):
        return "piece_lost"
    if protocol == "gemini" and any(
        _value_lost(old.arguments, new.arguments, path) for path in _paths(frame)
    ):
        return "value_lost"
    return None


def _one(protocol: str, mutant: Mutant, old: Told, new: Told) -> str | None:
    """The class that makes `new` of `old`, if one does."""
    lost = _pieces(protocol, mutant.before[0])
    kept = [piece for frame in mutant.after for piece in _pieces(protocol, frame)]
    kind = mutant.kind
    if kind == "flip" and _value_changed(old, new):
        return "value_changed"
    if kind == "flip" and old[1:] == new[1:] and new.call_id is None:
        return "id_lost"
    if (old.call_id, old.name) != (new.call_id, new.name):
        return None
    if kind == "repeat" and any(new.arguments in _doubled(old.arguments, piece) for piece in lost):
        return "piece_twice"
    if kind == "swap" and len(kept) == 2 and new.arguments in _swapped(old.arguments, kept[1], kept[0]):
        return "pieces_swapped"
    if kind == "flip" and len(lost) == len(kept) and new.arguments in _replaced(old.arguments, lost, kept):
        return "value_changed"
    found = _lost(protocol, old, new, mutant.before[0])
    if kind == "flip" and lost and kept == lost and _reindexed(protocol, mutant):
        return "piece_moved" if found or any(_gained(old, new, piece) for piece in lost) else None
    if kind == "drop" or found is None:
        return found or _damaged(protocol, mutant, old, new)
    return _unread(protocol, mutant) if kind in ("flip", "hole") and not kept else None


def _gained(old: Told, new: Told, piece: str) -> bool:
    """The piece stands somewhere in the text, or in place of `{}`, which an object that follows replaces."""
    text = old.arguments
    grown = {text[:at] + piece + text[at:] for at in range(len(text) + 1)}
    return new.arguments in grown or (text == "{}" and new.arguments == piece)


def _reindexed(protocol: str, mutant: Mutant) -> bool:
    """Whether the events differ, and in their indices alone."""
    events = [json.dumps(_payload(protocol, frame)) for frame in (mutant.before[0], mutant.after[0])]
    bare = {re.sub(r'("(?:index|output_index)": )\d+', r"\1", event) for event in events}
    return events[0] != events[1] and len(bare) == 1


def _damaged(protocol: str, mutant: Mutant, old: Told, new: Told) -> str | None:
    """The next event goes along with a damaged line before it; or an object's member has another name and is absent."""
    if mutant.kind not in ("flip", "hole"):
        return None
    unnamed = protocol in _SSE and not mutant.following.startswith(b"event:")
    remnant = mutant.after[0]
    if mutant.kind == "flip" or remnant.startswith(b":"):  # half a comment takes the next line in
        if unnamed and _lost(protocol, old, new, mutant.following):
            return "line_unread"
    elif unnamed and b":" not in remnant:  # half a field name takes the next one in: both events are lost
        pieces = _pieces(protocol, mutant.before[0])
        texts = {text for piece in pieces for text in _without(old.arguments, piece)} or {old.arguments}
        if any(_lost(protocol, old._replace(arguments=text), new, mutant.following) for text in texts):
            return "line_unread"
    whole = mutant.kind == "flip" and _payload(protocol, mutant.after[0]) is not None
    return "member_unread" if whole and not new.arguments and protocol in ("gemini", "ollama-chat") else None


def explain(protocol: str, mutant: Mutant, before: list[Told], extra: Told) -> str | None:
    """The class of damage that made a call which the stream does not hold, or does not hold as often; or None."""
    if extra in before:
        return "call_twice" if mutant.kind == "repeat" and extra.call_id is None else None
    for old in before:
        found = _one(protocol, mutant, old, extra)
        if found:
            return found
    return None


_UNCOUNTED = "pieces have no number, and no copy of the whole text follows"
_SINGLE = "id, name and arguments are on the wire once, and another value is as good as this one"
_OPEN = (
    "a member of a name that nobody knows must be passed over, and its old name is now absent, as it may be"
)
_LINE = "SSE passes over a line whose field nobody knows, and with it the event; of a field given twice the last counts"
_MOVED = "a piece's index is on the wire once: another one is another call's"
CANNOT_SHOW: dict[str, dict[str, str]] = {
    "openai-responses": {},
    "openai-chat": {
        "piece_lost": _UNCOUNTED,
        "piece_twice": _UNCOUNTED,
        "pieces_swapped": _UNCOUNTED,
        "value_changed": _SINGLE,
        "member_unread": _OPEN,
        "piece_moved": _MOVED,
        "line_unread": _LINE,
    },
    "anthropic-messages": {
        "piece_lost": _UNCOUNTED,
        "piece_twice": _UNCOUNTED,
        "pieces_swapped": _UNCOUNTED,
        "value_changed": _SINGLE,
        "member_unread": _OPEN,
        "piece_moved": _MOVED,
        "line_unread": _LINE,
    },
    "bedrock-invoke": {
        "piece_lost": _UNCOUNTED,
        "piece_twice": _UNCOUNTED,
        "pieces_swapped": _UNCOUNTED,
    },
    "gemini": {
        "piece_lost": _UNCOUNTED,
        "piece_twice": _UNCOUNTED,
        "pieces_swapped": _UNCOUNTED,
        "value_lost": "a value at a path is said once, and no list of the paths follows",
        "call_twice": "calls without ids: two equal ones are as good as one that is said twice",
        "value_changed": _SINGLE,
        "member_unread": _OPEN,
        "line_unread": _LINE,
        "id_lost": "ids are optional: a call without one is answered by its name and order",
    },
    "gemini-interactions": {
        "piece_lost": _UNCOUNTED + "; event ids are opaque, so a gap does not show",
        "pieces_swapped": _UNCOUNTED,
        "piece_twice": _UNCOUNTED + ", where events have no id",
        "value_changed": _SINGLE,
        "member_unread": _OPEN,
        "piece_moved": _MOVED,
        "line_unread": _LINE,
    },
    "ollama-chat": {
        "value_changed": _SINGLE,
        "member_unread": _OPEN,
        "id_lost": "ids are optional: a call without one is answered by its name",
        "call_twice": "calls without id and index: two equal ones are as good as one that is said twice",
    },
    "bedrock-converse": {
        "piece_lost": _UNCOUNTED,
        "piece_twice": _UNCOUNTED,
        "pieces_swapped": _UNCOUNTED,
    },
    "cohere-chat": {
        "piece_lost": _UNCOUNTED,
        "piece_twice": _UNCOUNTED,
        "pieces_swapped": _UNCOUNTED,
        "value_changed": _SINGLE,
        "member_unread": _OPEN,
        "piece_moved": _MOVED,
        "line_unread": _LINE,
    },
}
