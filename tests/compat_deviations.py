"""Where the originals of the faces read a stream otherwise than the standard: the streams, and what each makes of them.

Rules
 - Sections are those of the WHATWG HTML standard ("9.2.6" is "Interpreting an event stream"), unless another is named.
 - `standard` is what the standard asks for, and so what our face gives. The original gives something else: if it does
   not, the row is wrong.
 - The pages under docs/compat hold these rows, word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from compat_bodies import body_of, response_of
from compat_streams import Seen, seen

#: The original of each face, by its module.
FACES = ("httpx_sse", "httpx2", "sseclient")
#: What stands for the events of a body that is refused.
REFUSED = [("refused", "", "", "")]


@dataclass(frozen=True)
class Deviation:
    """One difference. `faces`: the originals that have it; `theirs`: what these do, in words."""

    what: str
    theirs: str
    ours: str
    clause: str
    faces: tuple[str, ...]
    chunks: tuple[bytes, ...]
    standard: list[Seen]
    content_type: str = "text/event-stream"

    @property
    def row(self) -> str:
        """The row of the page's table."""
        return f"| {self.what} | {self.theirs} | {self.ours} | {self.clause} |"


def message(data: str, last_id: str = "", retry: str = "") -> Seen:
    return ("message", data, last_id, retry)


def read(package: str, face: str, deviation: Deviation) -> list[Seen]:
    """The events by the original (package "") or by our face (package "trigate.compat."). A refusal is one too."""
    module = import_module(package + face)
    if face == "sseclient":
        return _collected(lambda: module.SSEClient(deviation.chunks).events(), UnicodeDecodeError)
    library = import_module("httpx2" if face == "httpx2" else "httpx")
    headers = {"content-type": deviation.content_type}
    source = module.EventSource(response_of(library, body_of(library, list(deviation.chunks)), headers))
    return _collected(source.__iter__ if face == "httpx2" else source.iter_sse, module.SSEError)


def _collected(events: Callable[[], Iterable[Any]], refusal: type[Exception]) -> list[Seen]:
    try:
        return [seen(event) for event in events()]
    except refusal:
        return REFUSED


_NO_DATA = "an event without data"
_DISPATCH = "9.2.6, dispatching, step 2: with an empty data buffer, return"
_DIGITS = '9.2.6, "retry": only ASCII digits set a time, else ignore the field'
_BLANK = "9.2.6: an empty line, whatever ends it, dispatches the event"
_TYPE = "9.2.2: a Content-Type other than text/event-stream fails; Fetch, extract a MIME type"

DEVIATIONS = (
    Deviation(
        "the body ends before the blank line",
        "the half event is given as a whole one",
        "no event; `leftover` holds it",
        "9.2.6: at the end of the file pending data is discarded",
        ("sseclient",),
        (b"data: 1000\n\ndata: 100",),
        [message("1000")],
    ),
    Deviation(
        "a block with `retry` alone",
        _NO_DATA,
        "no event; `reconnection_time` is set",
        _DISPATCH,
        ("httpx_sse", "httpx2"),
        (b"retry: 10\n\ndata: a\n\n",),
        [message("a")],
    ),
    Deviation(
        "a block with `event` alone",
        _NO_DATA,
        "no event",
        _DISPATCH,
        ("httpx_sse", "httpx2"),
        (b"event: ping\n\ndata: a\n\n",),
        [message("a")],
    ),
    Deviation(
        "a block with `id` alone",
        _NO_DATA,
        "no event; `last_event_id` is set, and holds for what follows",
        _DISPATCH,
        ("httpx_sse", "httpx2"),
        (b"id: 7\n\ndata: a\n\n",),
        [message("a", "7")],
    ),
    Deviation(
        "a blank line or a comment's block, once an id has come",
        "an event without data for each of them",
        "no event",
        _DISPATCH,
        ("httpx_sse",),
        (b"id: 7\ndata: a\n\n\n: ping\n\ndata: b\n\n",),
        [message("a", "7"), message("b", "7")],
    ),
    Deviation(
        "a byte order mark before the first line",
        "the first field is lost",
        "it is dropped",
        "9.2.6: decoding is UTF-8 decode, which drops one leading mark",
        FACES,
        (b"\xef\xbb\xbfdata: a\ndata: b\n\n",),
        [message("a\nb")],
    ),
    Deviation(
        "a Content-Type with another `charset`",
        "the body is read in that encoding",
        "the body is UTF-8",
        "9.2.6: streams are decoded as UTF-8; no other encoding can be named",
        ("httpx_sse", "httpx2"),
        (b"data: \xc3\xa9\n\n",),
        [message("\u00e9")],
        "text/event-stream; charset=latin-1",
    ),
    Deviation(
        "`retry` with a sign, spaces, underscores or other scripts' digits",
        "a time, even a negative one",
        "the field is ignored",
        _DIGITS,
        ("httpx_sse", "httpx2"),
        (
            b"retry: -5\ndata: a\n\nretry: 1_0\ndata: b\n\nretry:  5 \ndata: c\n\n",
            "retry: \u0663\ndata: d\n\n".encode(),
        ),
        [message(name) for name in "abcd"],
    ),
    Deviation(
        "`retry` that is no number",
        "its text is handed on",
        "the field is ignored",
        _DIGITS,
        ("sseclient",),
        (b"retry: soon\ndata: a\n\nretry\ndata: b\n\nretry: -1\ndata: c\n\n",),
        [message(name) for name in "abc"],
    ),
    Deviation(
        "an event without an `id` after one that has it",
        "its `id` is None",
        "its `id` is the last event ID",
        "9.2.6, dispatching, step 1: the last event ID buffer is not reset",
        ("sseclient",),
        (b"id: 7\ndata: a\n\ndata: b\n\n",),
        [message("a", "7"), message("b", "7")],
    ),
    Deviation(
        "an `id` that holds NUL",
        "it is taken",
        "the field is ignored",
        '9.2.6, "id": a value with U+0000 is ignored',
        ("sseclient",),
        (b"id: 7\ndata: a\n\nid: 8\x009\ndata: b\n\n",),
        [message("a", "7"), message("b", "7")],
    ),
    Deviation(
        "ill-formed UTF-8",
        "UnicodeDecodeError, and the rest of the stream is lost",
        "each ill-formed sequence becomes U+FFFD",
        "9.2.6: decoding is UTF-8 decode, which replaces",
        ("sseclient",),
        (b"data: a\xff\n\ndata: b\n\n",),
        [message("a\ufffd"), message("b")],
    ),
    Deviation(
        "line ends of two kinds around the blank line",
        "two events become one",
        "each is its own",
        _BLANK,
        ("sseclient",),
        (b"data: a\n\r\ndata: b\n\ndata: c\r\r\ndata: d\n\n",),
        [message(name) for name in "abcd"],
    ),
    Deviation(
        "a Content-Type in capitals",
        "refused",
        "read",
        _TYPE,
        ("httpx_sse",),
        (b"data: a\n\n",),
        [message("a")],
        "Text/Event-Stream",
    ),
    Deviation(
        "a Content-Type that only contains the right one",
        "read",
        "refused",
        _TYPE,
        ("httpx_sse",),
        (b"data: a\n\n",),
        REFUSED,
        "text/event-stream-ish",
    ),
    Deviation(
        "two Content-Types, the first of them the right one",
        "read",
        "refused: the last one counts",
        _TYPE,
        ("httpx_sse",),
        (b"data: a\n\n",),
        REFUSED,
        "text/event-stream, application/json",
    ),
    Deviation(
        "two Content-Types, the last of them the right one",
        "refused",
        "read: the last one counts",
        _TYPE,
        ("httpx2",),
        (b"data: a\n\n",),
        [message("a")],
        "application/json, text/event-stream",
    ),
)
