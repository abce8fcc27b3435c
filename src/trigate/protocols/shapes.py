"""Shapes: the deltas of a protocol as data, so that the core may take them without their being read one by one.

Rules
 - A shape is the JSON of an event with a role in place of each value that matters. An event has it if it has no
   member beside those of the shape, and none that does not fit its role. Everything else is read, always.
 - A shape allows, it does not command: an event is taken unread only while its lane is open, which the protocol's
   interpreter decides by reading a like event first.
 - All but the holes (TEXT, SEQUENCE, IGNORED) must be, byte for byte, as in that event.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from trigate._core import Shapes

__all__ = ["EMPTY", "FIXED", "IGNORED", "SEQUENCE", "TEXT", "Place", "shapes"]


class Role(enum.Enum):
    """What may stand at a place of a shape."""

    FIXED = "fixed"
    EMPTY = "empty"
    TEXT = "text"
    SEQUENCE = "sequence"
    IGNORED = "ignored"


#: Any value, the same in each piece; it may be missing.
FIXED = Role.FIXED
#: null, "", [] or {}, or nothing: the member says nothing in this shape.
EMPTY = Role.EMPTY
#: The piece: a string that must be there.
TEXT = Role.TEXT
#: An integer that is one more with each event; it may be missing.
SEQUENCE = Role.SEQUENCE
#: A string or an integer that means nothing; it may be missing.
IGNORED = Role.IGNORED

#: A role; the members of an object; the one element of an array; or the value that must stand there.
Place: TypeAlias = "Role | str | int | Mapping[str, Place] | list[Place]"

_Row: TypeAlias = tuple[tuple[str | None, ...], str, bytes]


def shapes(*declared: Mapping[str, Place]) -> Shapes:
    """The shapes of one protocol, ready for the core."""
    return Shapes([list(_members(shape, ())) for shape in declared])


def _members(shape: Mapping[str, Place], path: tuple[str | None, ...]) -> Iterator[_Row]:
    for name, place in shape.items():
        yield from _rows(place, (*path, name))


def _rows(place: Place, path: tuple[str | None, ...]) -> Iterator[_Row]:
    if isinstance(place, Role):
        yield path, place.value, b""
    elif isinstance(place, Mapping):
        yield path, "object", b""
        yield from _members(place, path)
    elif isinstance(place, list):
        yield path, "array", b""
        yield from _rows(place[0], (*path, None))
    else:
        yield path, "literal", json.dumps(place).encode()
