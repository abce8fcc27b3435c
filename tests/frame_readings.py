"""One reading of a stream by a decoder of records or messages, as a value that can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import cuts
import readings
from trigate import DecodeError, EventStreamDecoder, JSONArrayDecoder, Leftover, LimitError, NDJSONDecoder

__all__ = ["Decoder", "Reading", "read", "read_every_way"]

Decoder: TypeAlias = NDJSONDecoder | JSONArrayDecoder | EventStreamDecoder


@dataclass(frozen=True)
class Reading:
    """All that a decoder says about a stream."""

    frames: tuple[object, ...]
    places: tuple[tuple[int, int, int], ...]
    error: readings.Error | None
    leftover: Leftover | None


def read(decoder: Decoder, pieces: Iterable[bytes]) -> Reading:
    found: list[Any] = []
    error: readings.Error | None = None
    leftover: Leftover | None = None
    try:
        for piece in pieces:
            found += decoder.feed(piece)
        leftover = decoder.finish()
    except (DecodeError, LimitError) as raised:
        error = readings.describe(raised)
    places = tuple((frame.start, frame.data_start, frame.end) for frame in found)
    return Reading(tuple(found), places, error, leftover)


def read_every_way(make: Callable[[], Decoder], stream: bytes) -> Reading:
    """The reading of the whole, which that of every cut must equal."""
    whole = read(make(), [stream])
    for pieces in cuts.every(stream, stream[:40].hex()):
        assert read(make(), pieces) == whole, [len(piece) for piece in pieces]
    return whole
