"""Recorded streams of real providers, as turns: other people's data, read from where TRIGATE_CORPUS says.

Rules
 - Nothing of it is copied into the project; without it the group that needs it is left out, and says so.
 - Their index says what each comes to. The calls of a response that did not complete are not compared: libraries
   differ in what they call a call there, and this is about time. Nor is the id of a call that has none on the wire.
 - Left out: a recording whose last event has no end (by the rules it is no event, but the index counts it), and
   one of several choices (a Result holds the text of one).
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turns import Call, Result

__all__ = ["CORPUS", "Recording", "recordings"]

CORPUS = Path(os.environ.get("TRIGATE_CORPUS", Path(__file__).resolve().parents[2] / "shared" / "corpus"))


@dataclass(frozen=True)
class Recording:
    name: str
    protocol: str
    data: bytes
    events: int
    text_sha256: str
    calls: tuple[Call, ...] | None

    def chunks(self, size: int) -> list[bytes]:
        return [self.data[start : start + size] for start in range(0, len(self.data), size)]

    def is_told_by(self, result: Result) -> bool:
        """Whether a result is what the index says: the text, and the calls in any order."""
        if hashlib.sha256(result.text.encode()).hexdigest() != self.text_sha256:
            return False
        if self.calls is None:
            return True
        has_ids = all(call_id is not None for call_id, _, _ in self.calls)
        return _in_order(result.calls, has_ids) == _in_order(self.calls, has_ids)


def recordings(protocol: str) -> list[Recording]:
    """All recordings of a protocol; none where there is no corpus."""
    index = CORPUS / "index.json"
    if not index.is_file():
        return []
    entries: list[dict[str, Any]] = json.loads(index.read_text("utf-8"))["files"]
    return [
        _recording(entry)
        for entry in entries
        if entry["protocol"] == protocol and not entry["unterminated_tail"] and "choices" not in entry
    ]


def _recording(entry: dict[str, Any]) -> Recording:
    completed = entry["outcome"] == "completed"
    return Recording(
        entry["file"],
        entry["protocol"],
        (CORPUS / entry["file"]).read_bytes(),
        entry["sse_events"],
        entry["text_sha256"],
        tuple(_call(call) for call in entry["tool_calls"]) if completed else None,
    )


def _call(call: dict[str, Any]) -> Call:
    is_text = call["kind"] == "custom_tool_call"
    return call["id"], call["name"], call["arguments"] if is_text else json.loads(call["arguments"] or "{}")


def _in_order(calls: tuple[Call, ...], has_ids: bool) -> list[str]:
    compared = [call if has_ids else call[1:] for call in calls]
    return sorted(json.dumps(call, sort_keys=True) for call in compared)
