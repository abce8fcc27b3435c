"""Arguments that Gemini streams value by value: (path, value) pairs in, one JSON object's text out.

Rules
 - A value has one place. A second value at a place that is finished, or a value where an object or a list
   stands, is a contradiction: the stream cannot mean both.
 - The pieces of a string are joined while its willContinue is true. A string still open at the end is cut.
 - Numbers keep the wire's own digits. Nothing is guessed: a path that cannot be read spoils the call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from json.encoder import encode_basestring
from typing import Literal, TypeAlias

from trigate.errors import LimitError
from trigate.protocols.gemini_wire import PartialArg
from trigate.protocols.wire import is_given
from trigate.text import join_halves

__all__ = ["PartialArguments", "parse_path"]

Problem: TypeAlias = Literal["incomplete", "malformed"]
Segment: TypeAlias = str | int

_HALVES = re.compile("[\ud800-\udfff]")
#: Most paths have names and indices alone.
_PLAIN_SEGMENT = re.compile(r"\.([^.*\[\]\s'\"]+)|\[(0|[1-9][0-9]{0,8})\]")
_PLAIN_PATH = re.compile(rf"\$(?:{_PLAIN_SEGMENT.pattern})+")
_SEGMENT = re.compile(
    r"\.(?P<name>[^.*\[\]\s'\"]+)"
    r"|\[(?P<index>0|[1-9][0-9]{0,8})\]"
    r"|\['(?P<single>(?:[^'\\]|\\.)*)'\]"
    r'|\["(?P<double>(?:[^"\\]|\\.)*)"\]',
    re.DOTALL,
)
# Infinity and NaN come as strings.
_NUMBER_STARTS = (b"-", *(b"%d" % digit for digit in range(10)))
_ESCAPED_QUOTE = re.compile(r"\\(.)", re.DOTALL)


def parse_path(path: str) -> tuple[Segment, ...] | None:
    """The segments of a singular JSONPath (RFC 9535), $.a.b[0]['c d']; None if it is none, or the root."""
    if _PLAIN_PATH.fullmatch(path) is not None:
        return tuple([name or int(index) for name, index in _PLAIN_SEGMENT.findall(path)])
    if not path.startswith("$"):
        return None
    segments: list[Segment] = []
    position = 1
    while position < len(path):
        match = _SEGMENT.match(path, position)
        if match is None:
            return None
        position = match.end()
        kind = match.lastgroup
        if kind == "name":
            segments.append(match[1])
        elif kind == "index":
            segments.append(int(match[2]))
        elif (name := _unquoted(match)) is not None:
            segments.append(name)
        else:
            return None
    return tuple(segments) or None


def _unquoted(match: re.Match[str]) -> str | None:
    body = match["double"]
    if body is None:
        # Within single quotes, \' is a quote and " needs no escape; the rest is as in JSON.
        body = _ESCAPED_QUOTE.sub(lambda hit: "'" if hit[1] == "'" else hit[0], match["single"])
        body = re.sub(r'(\\.)|"', lambda hit: hit[1] or '\\"', body, flags=re.DOTALL)
    try:
        name = json.loads(f'"{body}"')
    except ValueError:
        return None
    return name if isinstance(name, str) else None


class _Leaf:
    """One value. A string may be open: more pieces of it will come."""

    __slots__ = ("is_open", "literal", "pieces")

    def __init__(self, literal: str | None) -> None:
        self.literal = literal  # the JSON text of anything but a string
        self.pieces: list[str] = []
        self.is_open = False

    @property
    def text(self) -> str:
        return _quote("".join(self.pieces)) if self.literal is None else self.literal


class _Container:
    """An object or a list; a list's elements may come in any order."""

    __slots__ = ("children", "is_list")

    def __init__(self, is_list: bool) -> None:
        self.is_list = is_list
        self.children: dict[Segment, _Leaf | _Container] = {}

    def in_order(self) -> Iterator[tuple[Segment, _Leaf | _Container]]:
        if not self.is_list:
            return iter(self.children.items())
        return iter(sorted(self.children.items(), key=lambda child: int(child[0])))


class PartialArguments:
    """Gathers the values of one call. After the last: `problem`, or else `text()`."""

    def __init__(self, max_depth: int) -> None:
        self._root = _Container(is_list=False)
        self._max_depth = max_depth
        self._open = 0
        self._spoilt: tuple[Problem, str] | None = None
        # Where the last value went: the next piece of a string mostly follows at once.
        self._path: str | None = None
        self._leaf = _Leaf(None)

    def add(self, arg: PartialArg, offset: int | None) -> str | None:
        """Takes one value. Returns what contradicts the values before it, or None."""
        is_next = arg.jsonPath is not None and arg.jsonPath == self._path
        path = None if is_next or arg.jsonPath is None else parse_path(arg.jsonPath)
        if path is None and not is_next:
            self._spoil("malformed", f"the path {arg.jsonPath!r} names no place")
        elif (
            arg.numberValue and is_given(arg.numberValue) and bytes(arg.numberValue)[:1] not in _NUMBER_STARTS
        ):
            self._spoil("malformed", f"{arg.jsonPath} has a number that JSON cannot write")
        elif path is None:
            return self._go_on(self._leaf, arg)
        else:
            return self._add_at(path, arg, offset)
        return None

    def _add_at(self, path: tuple[Segment, ...], arg: PartialArg, offset: int | None) -> str | None:
        if len(path) > self._max_depth:
            raise LimitError(
                f"the arguments in the event at byte {offset} go deeper than max_depth = {self._max_depth}",
                code="depth_too_large",
                limit="max_depth",
                offset=offset,
            )
        parent = self._parent(path)
        if parent is None:
            return f"{arg.jsonPath} has a value and members or elements as well"
        leaf = parent.children.get(path[-1])
        if isinstance(leaf, _Container):
            return f"{arg.jsonPath} has a value and members or elements as well"
        if leaf is None:
            self._begin(parent, path[-1], arg)
            return None
        self._path, self._leaf = arg.jsonPath, leaf
        return self._go_on(leaf, arg)

    def _parent(self, path: tuple[Segment, ...]) -> _Container | None:
        """The container of the path's last segment, made where missing; None if a value stands in the way."""
        node = self._root
        for segment, below in pairwise(path):
            if node.is_list != isinstance(segment, int):
                return None
            child = node.children.get(segment)
            if child is None:
                child = node.children[segment] = _Container(isinstance(below, int))
            if isinstance(child, _Leaf):
                return None
            node = child
        return node if node.is_list == isinstance(path[-1], int) else None

    def _begin(self, parent: _Container, segment: Segment, arg: PartialArg) -> None:
        text = arg.stringValue
        literals = _literals(arg)
        if len(literals) + (text is not None) != 1:
            self._spoil("malformed", f"{arg.jsonPath} has no single value")
            return
        leaf = _Leaf(literals[0] if literals else None)
        if text is not None:
            leaf.pieces.append(text)
        elif arg.willContinue:
            self._spoil("malformed", f"{arg.jsonPath} is to go on, but is no string")
        parent.children[segment] = leaf
        self._path, self._leaf = arg.jsonPath, leaf
        leaf.is_open = bool(arg.willContinue)
        self._open += leaf.is_open

    def _go_on(self, leaf: _Leaf, arg: PartialArg) -> str | None:
        if not leaf.is_open:
            return f"{arg.jsonPath} goes on after its end"
        if _literals(arg):
            return f"{arg.jsonPath} is a string and something else"
        if arg.stringValue is not None:
            leaf.pieces.append(arg.stringValue)
        if not arg.willContinue:
            leaf.is_open = False
            self._open -= 1
        return None

    def _spoil(self, problem: Problem, detail: str) -> None:
        if self._spoilt is None:
            self._spoilt = (problem, detail)

    def problem(self) -> tuple[Problem, str] | None:
        """Why the values make no whole object, now that no more will come."""
        if self._spoilt is None and self._open:
            return "incomplete", "the call ended while a string of its arguments was to go on"
        return self._spoilt or _gap(self._root)

    def text(self) -> str:
        """The object as JSON text. Without recursion: the wire chooses the depth."""
        out = ["{"]
        stack = [(self._root.in_order(), "}")]
        has_sibling = False
        while stack:
            entries, end = stack[-1]
            entry = next(entries, None)
            if entry is None:
                out.append(end)
                stack.pop()
                has_sibling = True
                continue
            segment, child = entry
            if has_sibling:
                out.append(",")
            if isinstance(segment, str):
                out.append(_quote(segment) + ":")
            has_sibling = isinstance(child, _Leaf)
            if isinstance(child, _Leaf):
                out.append(child.text)
            else:
                out.append("[" if child.is_list else "{")
                stack.append((child.in_order(), "]" if child.is_list else "}"))
        return "".join(out)


def _literals(arg: PartialArg) -> list[str]:
    """Its values that are no strings, as JSON texts. A null beside another value says nothing."""
    if arg.stringValue is not None and arg.boolValue is None and not arg.numberValue:
        return []
    found: list[str] = []
    if arg.numberValue and is_given(arg.numberValue):
        found.append(bytes(arg.numberValue).decode())
    if arg.boolValue is not None:
        found.append("true" if arg.boolValue else "false")
    if not found and arg.stringValue is None and arg.nullValue:
        found.append("null")
    return found


def _gap(root: _Container) -> tuple[Problem, str] | None:
    """A list that misses an element."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.is_list and len(node.children) != max(int(place) for place in node.children) + 1:
            return "incomplete", "a list of the arguments misses an element"
        nodes += [child for child in node.children.values() if isinstance(child, _Container)]
    return None


def _quote(text: str) -> str:
    """A JSON string. Halves of a surrogate pair are joined; a lone one stays an escape."""
    quoted = encode_basestring(join_halves(text))
    return quoted if quoted.isascii() else _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", quoted)
