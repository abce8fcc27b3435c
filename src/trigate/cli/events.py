"""`trigate events`: the server-sent events of a stream, one line each, as soon as they are whole.

Rules
 - Offsets are bytes from the start of the stream; sizes are bytes of the data.
 - What the end of input left unfinished is told on standard error and is never shown as an event.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from trigate._core import ServerSentEvent, SSEDecoder
from trigate.cli.render import Screen, complain, dump_json, shorten
from trigate.cli.source import chunks
from trigate.errors import TrigateError
from trigate.leftover import Leftover

__all__ = ["run"]

_WHOLE, _UNFINISHED, _BROKEN = 0, 3, 4
_PREVIEW = 60
_LEAST_TYPE, _MOST_TYPE, _LEAST_DATA = 8, 40, 20


def run(options: argparse.Namespace) -> int:
    screen = Screen()
    decoder = SSEDecoder(errors="strict" if options.strict else "replace")
    show = _json_line if options.json else _Lines(screen)
    count = 0
    try:
        for chunk in chunks(options.file, progress=not screen.is_terminal):
            events = decoder.feed(chunk)
            count += len(events)
            _write(screen, events, show)
            if decoder.error is not None:
                raise decoder.error
        left = decoder.finish()
    except TrigateError as error:
        screen.flush()
        complain("events", f"{error.layer} {error.code}: {error}")
        return _BROKEN
    if not left:
        if not count:
            what = f"no event in {decoder.bytes_fed} bytes; `trigate calls` says what the input is"
            complain("events", what)
        return _WHOLE
    screen.flush()
    complain("events", _describe(left, decoder.bytes_fed))
    return _UNFINISHED


def _write(screen: Screen, events: list[ServerSentEvent], show: Callable[[ServerSentEvent], str]) -> None:
    for event in events:
        screen.write(show(event))
    if events:
        screen.flush()


def _json_line(event: ServerSentEvent) -> str:
    members = ("start", "end", "event", "id", "retry", "data")
    return dump_json({name: getattr(event, name) for name in members})


class _Lines:
    """An event as a line for people: offset, type, size, data."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._widest = _LEAST_TYPE

    def __call__(self, event: ServerSentEvent) -> str:
        screen = self._screen
        offset, size = f"{event.start:>9}", f"{len(event.data_bytes):>7}"
        kind = shorten(event.event, _MOST_TYPE if screen.width is not None else None)
        self._widest = min(max(self._widest, len(kind)), _MOST_TYPE)
        kind = kind.ljust(self._widest)
        rest = None
        if screen.width is not None:
            rest = max(screen.width - len(offset) - len(kind) - len(size) - 6, _LEAST_DATA)
        head = (screen.paint(offset, "dim"), screen.paint(kind, "cyan"), screen.paint(size, "dim"))
        return "  ".join((*head, shorten(event.data, rest))).rstrip()


def _describe(left: Leftover, at: int) -> str:
    article = "an" if left.where == "event" else "a"
    shown = left.bytes.decode("utf-8", "replace") or left.data or ""
    rest = f": {shorten(shown, _PREVIEW)}" if shown else ""
    return (
        f"the input ended at byte {at} inside {article} {left.where}; "
        f"the bytes from {left.start} on are no event{rest}"
    )
