"""One reading of a stream by SSEDecoder as a value that can be compared: all that a caller can see of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from trigate import DecodeError, Leftover, LimitError, Limits, ServerSentEvent, SSEDecoder

if TYPE_CHECKING:
    from typing_extensions import Buffer

Error = tuple[str, str, int | None, str | None]


@dataclass(frozen=True)
class Reading:
    """error: kind, code, offset and limit of what was raised, None if the stream came to its end."""

    events: tuple[tuple[object, ...], ...]
    last_event_id: str
    reconnection_time: int | None
    leftover: Leftover | None
    error: Error | None


def members(event: ServerSentEvent) -> tuple[object, ...]:
    return (
        event.event,
        event.data,
        event.data_bytes,
        event.id,
        event.retry,
        event.start,
        event.data_start,
        event.end,
    )


def describe(error: DecodeError | LimitError) -> Error:
    return (type(error).__name__, error.code, error.offset, getattr(error, "limit", None))


def read(
    chunks: Iterable[Buffer],
    *,
    errors: Literal["replace", "strict"] = "replace",
    limits: Limits | None = None,
) -> Reading:
    """Feeds the chunks and the end of input."""
    decoder = SSEDecoder(errors=errors, limits=limits)
    events: list[ServerSentEvent] = []
    left: Leftover | None = None
    error: Error | None = None
    try:
        for chunk in chunks:
            events += decoder.feed(chunk)
        left = decoder.finish()
    except (DecodeError, LimitError) as raised:
        error = describe(raised)
    return Reading(
        events=tuple(members(event) for event in events),
        last_event_id=decoder.last_event_id,
        reconnection_time=decoder.reconnection_time,
        leftover=left,
        error=error,
    )


def events_of(chunks: Sequence[Buffer]) -> list[ServerSentEvent]:
    """The events alone, of a stream without errors."""
    decoder = SSEDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]
