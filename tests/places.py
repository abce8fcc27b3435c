"""The plainest reading of where a stream was cut: one pass over its lines, no chunks, no states.

Only for streams that are right UTF-8. Used to check what trigate says about a cut; it shares no code with it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Places"]

_LINE = re.compile(rb"([^\r\n]*)(\r\n|\r|\n)")
_CALLS = {"function_call", "custom_tool_call", "shell_call", "apply_patch_call"}
_ENDS = {"response.completed", "response.incomplete", "response.failed", "response.cancelled", "error"}


@dataclass
class Places:
    """Where lines end, where events were dispatched, and what each event did."""

    data: bytes
    line_ends: list[tuple[int, int, bool]] = field(
        default_factory=list
    )  # ended at, next begins at, block is open
    dispatched: list[tuple[int, dict[str, Any]]] = field(default_factory=list)  # known from, the event

    def __post_init__(self) -> None:
        pieces: list[bytes] = []
        is_open = False
        start = 3 if self.data.startswith(b"\xef\xbb\xbf") else 0
        for match in _LINE.finditer(self.data, start):
            line = match.group(1)
            ended = match.end(1) + 1  # a CR ends its line at once
            name, _, value = line.partition(b":")
            if not line:
                if pieces and pieces != [b"[DONE]"]:
                    self.dispatched.append((ended, json.loads(b"\n".join(pieces))))
                pieces, is_open = [], False
            elif name in (b"data", b"event", b"id"):
                is_open = True
                if name == b"data":
                    pieces.append(value.removeprefix(b" "))
            self.line_ends.append((ended, match.end(), is_open))
        self._ends = [ended for ended, _, _ in self.line_ends]
        self._known = [known for known, _ in self.dispatched]

    def events_before(self, length: int) -> list[dict[str, Any]]:
        return [event for _, event in self.dispatched[: bisect_right(self._known, length)]]

    @property
    def terminal_at(self) -> int:
        """How many bytes are needed for the terminal event."""
        return next(known for known, event in self.dispatched if event["type"] in _ENDS)

    def pending_error(self, length: int) -> bool:
        """Whether the unfinished event at the end is an error, its JSON whole: that much is told at once."""
        starts = [
            following for _, following, is_open in self.line_ends if not is_open and following <= length
        ]
        lines = re.split(rb"\r\n|\r|\n", self.data[starts[-1] if starts else 0 : length])
        pieces = [line.partition(b":")[2] for line in lines if line.startswith(b"data:")]
        try:
            event = json.loads(b"\n".join(pieces))
        except ValueError:
            return False
        return isinstance(event, dict) and event.get("type") == "error"

    def calls_done(self, length: int) -> list[str]:
        """call_ids of the items that were done, in the order of their place."""
        done = [
            (event["output_index"], event["item"]["call_id"])
            for event in self.events_before(length)
            if event["type"] == "response.output_item.done" and event["item"]["type"] in _CALLS
        ]
        return [call_id for _, call_id in sorted(done)]

    def _has_open_call(self, length: int) -> bool:
        begun: set[int] = set()
        for event in self.events_before(length):
            if event["type"] == "response.output_item.added" and event["item"]["type"] in _CALLS:
                begun.add(event["output_index"])
            elif event["type"] == "response.output_item.done":
                begun.discard(event["output_index"])
        return bool(begun)

    def place(self, length: int) -> str:
        """The code that a cut after `length` bytes deserves."""
        if length < len(self.data) and self.data[length] & 0xC0 == 0x80:
            return "truncated_in_character"
        count = bisect_right(self._ends, length)
        ended, following, is_open = self.line_ends[count - 1] if count else (0, 0, False)
        if not count and self.data.startswith(b"\xef\xbb\xbf") and length <= 3:
            following = 3
        if length > following and length > ended:
            return "truncated_in_line"
        if is_open:
            return "truncated_in_event"
        return "truncated_in_arguments" if self._has_open_call(length) else "truncated_before_terminal"
