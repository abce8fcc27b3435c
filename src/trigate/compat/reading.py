"""What every face tells of the body that it reads, beside its events.

Rule: a face that begins to read anew sets `_decoder` and `leftover` anew; nothing else here is its business.
"""

from __future__ import annotations

import trigate

__all__ = ["Reading"]


class Reading:
    """
    leftover            None until the body has come to its end; then what it left unfinished, false if nothing
    last_event_id       of the stream so far, also where a block without data set it
    reconnection_time   of the stream so far in milliseconds, also where a block without data set it; or None
    """

    _decoder: trigate.SSEDecoder
    leftover: trigate.Leftover | None = None

    @property
    def last_event_id(self) -> str:
        return self._decoder.last_event_id

    @property
    def reconnection_time(self) -> int | None:
        return self._decoder.reconnection_time
