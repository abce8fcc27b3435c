"""Where a stream holds none of the listed differences, an original and our face read the same.

The streams are made at random: blocks with data, fields of every name, line ends of every kind, cut anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cuts
from compat_bodies import body_of, response_of
from compat_streams import Seen, expected, seen

NAMES = ("httpx_sse", "httpx2", "sseclient")

#: Text of a value: no line ends, no NUL, and what splitlines() of str would part.
VALUES = st.text(st.sampled_from("ab: \u00e9\u2028\u0085\x0b\x1c\U0001f30d{}\"'0"), max_size=8)
DIGITS = st.integers(0, 2**63 - 1).map(str)


def field(name: str, value: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda space, text: f"{name}:{space}{text}", st.sampled_from(["", " ", "  "]), value)


RETRY = DIGITS.flatmap(lambda digits: st.sampled_from([f"retry:{digits}", f"retry: {digits}"]))
OTHER = st.one_of(
    field("", VALUES),
    field("other", VALUES),
    field("event", VALUES),
    st.sampled_from(["event", "data", ":", "Data: x"]),
)
#: A block that dispatches an event: without data, most of the listed differences begin.
BLOCK = st.builds(
    lambda before, data, after: [*before, data, *after],
    st.lists(st.one_of(OTHER, RETRY, field("data", VALUES)), max_size=4),
    field("data", VALUES),
    st.lists(st.one_of(OTHER, RETRY, field("data", VALUES)), max_size=2),
)
IDS = field("id", VALUES.filter(bool))


@st.composite
def streams(draw: st.DrawFn, *, every_block_has_an_id: bool, one_line_end: bool) -> bytes:
    """Where line ends are mixed, a CR may meet the LF of a blank line: then two blocks are one, for every reader."""
    ends = st.sampled_from(["\n", "\r\n", "\r"])
    end = st.just(draw(ends)) if one_line_end else ends
    text = ""
    for lines in draw(st.lists(BLOCK, min_size=1, max_size=5)):
        if every_block_has_an_id or draw(st.booleans()):
            lines.insert(draw(st.integers(0, len(lines))), draw(IDS))
        text += "".join(line + draw(end) for line in [*lines, ""])
    return text.encode()


def reader(package: str, name: str) -> Callable[[list[bytes]], list[Seen]]:
    module: Any = pytest.importorskip(package + name)
    if name == "sseclient":
        return lambda chunks: [seen(event) for event in module.SSEClient(chunks).events()]
    library = pytest.importorskip("httpx2" if name == "httpx2" else "httpx")

    def read(chunks: list[bytes]) -> list[Seen]:
        source = module.EventSource(response_of(library, body_of(library, chunks)))
        return [seen(event) for event in (source if name == "httpx2" else source.iter_sse())]

    return read


@pytest.mark.parametrize("name", NAMES)
def test_an_original_and_its_face_agree(name: str) -> None:
    theirs, ours = reader("", name), reader("trigate.compat.", name)
    is_strict = name == "sseclient"

    @settings(max_examples=60, deadline=None)
    @given(streams(every_block_has_an_id=is_strict, one_line_end=is_strict), st.integers(0, 2**32))
    def agree(stream: bytes, seed: int) -> None:
        chunks = [chunk for chunk in next(cuts.at_random(stream, str(seed), 1)) if chunk]
        assert ours(chunks) == theirs(chunks) == expected(stream)

    agree()
