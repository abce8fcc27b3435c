"""JSON in an event stream outside of any event: what a front end writes when it fails in mid-stream.

Rules
 - An event stream's lines are fields, and a line that begins with a brace is none: the standard skips it.
   Where a protocol's servers are known to write an error like this, skipping it would hide the failure.
 - Only the first such text is kept, up to a bound, and judged when the input is over. How the input is cut
   makes no difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from trigate._core import JSONTracker

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["StrayState", "Strays"]

StrayState: TypeAlias = Literal["none", "open", "whole", "broken"]


class Strays:
    """Gathers the text that such a line begins. Who reads the lines says where it stands.

    state: "none", "open" (it has begun), "whole" (one JSON value), "broken" (no JSON, or longer than `limit`)
    offset: of its first byte. text: the value, once it is whole.
    """

    def __init__(self, limit: int) -> None:
        self.state: StrayState = "none"
        self.offset: int | None = None
        self._limit = limit
        self._tracker = JSONTracker(max_depth=2**31)
        self._text = bytearray()

    def feed(self, chunk: Buffer, at: int, start: int) -> None:
        """The next bytes, which stand at offset `at`; the text begins at `start`, in the first of these chunks."""
        data = bytes(chunk)
        if self.state == "none":
            self.state = "open"
            self.offset = start
            data = data[start - at :]
        if self.state == "open":
            self._gather(data)

    def _gather(self, data: bytes) -> None:
        tracker = self._tracker
        data = data[: self._limit + 1 - len(self._text)]
        tracker.feed(data)
        self._text += data
        if tracker.closed_at is not None and tracker.closed_at <= self._limit:
            del self._text[tracker.closed_at :]
            self.state = "whole"
        elif tracker.state == "invalid" or len(self._text) > self._limit:
            self.state = "broken"

    @property
    def text(self) -> bytes | None:
        return bytes(self._text) if self.state == "whole" else None
