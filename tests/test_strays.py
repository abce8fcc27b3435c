"""A text outside of events is gathered up to its end, whatever the cut, from where it begins."""

from __future__ import annotations

import pytest

from gemini_streams import GEMINI, chunk, parse, sse, stop
from prediction_pairs import predicting
from streams import every_two_cut, of_size
from trigate.strays import Strays

ERROR = b'{\n  "error": {\n    "code": 503,\n    "message": "x {[\\""\n  }\n}'


def look(chunks: list[bytes], start: int = 0, limit: int = 1000, at: int = 0) -> Strays:
    """The first chunk that has a byte from `start` on is the first that is fed, as the parser does it."""
    strays = Strays(limit)
    for data in chunks:
        if at + len(data) > start:
            strays.feed(data, at, start)
        at += len(data)
    return strays


@pytest.mark.parametrize("before", [b"", b"data: 1\n\n"])
@pytest.mark.parametrize("after", [b"", b"\n", b"\r\n\r\ndata: {\n", b"\n{"])
def test_gathered_at_every_cut(before: bytes, after: bytes) -> None:
    data = before + ERROR + after
    for chunks in [*every_two_cut(data), of_size(data, 1), of_size(data, 3)]:
        strays = look(chunks, len(before))
        assert (strays.state, strays.offset, strays.text) == ("whole", len(before), ERROR)


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


@pytest.mark.parametrize("is_fast", [True, False], ids=["predicting", "reading"])
def test_an_error_among_chunks_that_go_unread(is_fast: bool) -> None:
    """Whole frames are passed over by the core; what stands between them is not."""
    told = [chunk({"text": f"piece {number} {{"}) for number in range(6)]
    before = sse(told)
    data = before + ERROR + b"\n\n" + sse([*told, stop()])
    with predicting(is_fast):
        for chunks in [*every_two_cut(data), of_size(data, 1), [before, *of_size(data[len(before) :], 7)]]:
            response = parse(chunks, GEMINI)
            assert response.error is not None
            assert (response.status, response.error.code, response.error.offset) == (
                "failed",
                503,
                len(before),
            )
            assert len(response.text) == 12 * len("piece 0 {")
        whole = parse(sse([*told, stop()]), GEMINI)
        assert (whole.status, whole.error) == ("completed", None)
