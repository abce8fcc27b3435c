"""JSON between the events of a stream is found, whatever the cut, and only where a line begins."""

from __future__ import annotations

import pytest

from streams import every_two_cut, of_size
from trigate.strays import Strays

ERROR = b'{\n  "error": {\n    "code": 503,\n    "message": "x {[\\""\n  }\n}'


def look(chunks: list[bytes], since: int = 0, limit: int = 1000, at: int = 0) -> Strays:
    strays = Strays(since, limit)
    for chunk in chunks:
        strays.feed(chunk, at)
        at += len(chunk)
    return strays


@pytest.mark.parametrize("before", [b"", b"data: 1\n\n", b"data: 1\r\n\r\n", b"data: 1\r\r", b": {\n\n"])
@pytest.mark.parametrize("after", [b"", b"\n", b"\r\n\r\ndata: {\n", b"\n{"])
def test_found_at_every_cut(before: bytes, after: bytes) -> None:
    data = before + ERROR + after
    for chunks in [*every_two_cut(data), of_size(data, 1), of_size(data, 3)]:
        strays = look(chunks)
        assert (strays.state, strays.offset, strays.text) == ("whole", len(before), ERROR)


@pytest.mark.parametrize("data", [b"", b"data: {\ndata: }\n\n", b"a {\n [{\n", b'data: {"a":{}}\n\n'])
def test_nothing_to_find(data: bytes) -> None:
    for chunks in every_two_cut(data):
        strays = look(chunks)
        assert (strays.state, strays.offset, strays.text) == ("none", None, None)


def test_what_stands_before_the_first_event_is_not_looked_at() -> None:
    data = b'{"error": 1}\n\ndata: 1\n\n' + ERROR
    since = data.index(ERROR)
    for chunks in every_two_cut(data):
        assert look(chunks, since).offset == since
    # Also where it is fed from the middle on.
    assert look([data[since - 3 :]], since, at=since - 3).offset == since


def test_open_and_broken() -> None:
    for length in range(1, len(ERROR)):
        assert look([ERROR[:length]]).state == "open"
    assert look([b"{a"]).state == "broken"
    assert look([b"{a"]).text is None


def test_the_bound() -> None:
    data = b'{"a":"' + b"x" * 92 + b'"}'
    for size in (1, 7, 200):
        assert look(of_size(data, size), limit=len(data)).state == "whole"
        assert look(of_size(data, size), limit=len(data) - 1).state == "broken"
        assert look(of_size(data[:-1], size), limit=len(data) - 1).state == "open"
