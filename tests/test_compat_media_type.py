"""Which Content-Types name an event stream: as the Fetch standard extracts a media type."""

from __future__ import annotations

import pytest

from trigate.compat.media_type import is_event_stream


@pytest.mark.parametrize(
    "header",
    [
        "text/event-stream",
        " text/event-stream ",
        "TEXT/Event-Stream;charset=UTF-8",
        "text/event-stream ; charset=latin-1",
        "text/event-stream;",
        "application/json, text/event-stream",
        "text/event-stream, */*",
        "text/event-stream, nonsense",
        "text/event-stream,",
        'text/html; title="a, b/c", text/event-stream',
        r'text/html; title="a\", b/c", text/event-stream; x=1',
    ],
)
def test_an_event_stream(header: str) -> None:
    assert is_event_stream(header)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "text",
        "text/",
        "text /event-stream",
        "text/event-stream x",
        "text/event-streams",
        "x-text/event-stream",
        "text/plain; type=text/event-stream",
        "text/event-stream, application/json",
        'text/html; title=", text/event-stream',
        'text/html; title="a, text/event-stream"',
        "*/*",
        "text/event-stre\u0430m",
    ],
)
def test_another_type(header: str) -> None:
    assert not is_event_stream(header)


@pytest.mark.parametrize("piece", ['"', '"\\', ',"', "a/b,", " ", '"\\"', "text/event-stream "])
def test_a_hostile_header_is_read_to_its_end(piece: str) -> None:
    assert not is_event_stream(piece * 20_000 + "!")
