"""Gemini's generateContent stream, read plainly, as SSE or as one JSON array: every `functionCall` part is a call.

Rules
 - A call comes whole in its part; with `willContinue` it is built from `partialArgs` until a part says no more.
 - The last finish reason of a candidate counts; without one the turn is truncated, and so is an array without its `]`.
 - Arguments are objects on this wire: their text here is compact JSON, to be compared by value.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from model.common import (
    MalformedError,
    Obj,
    Outcome,
    Read,
    Turn,
    Usage,
    Wire,
    compact,
    json_array,
    loads,
    sse,
)

__all__ = ["read"]

SHORT = {"MAX_TOKENS", "CONTINUATION"}
BLOCKED = {
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
    "LANGUAGE",
    "NO_IMAGE",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
}


def _path(path: str) -> list[str | int]:
    """`$.a[0]['b']` as its steps."""
    return [
        int(index) if index else word or quoted
        for word, index, quoted in re.findall(r"\.([^.\[]+)|\[(\d+)\]|\['([^']*)'\]", path)
    ]


def _put(target: dict[str, Any], steps: list[str | int], value: Any, *, join: bool) -> None:
    here: Any = target
    for step, following in itertools.pairwise(steps):
        fresh: Any = [] if isinstance(following, int) else {}
        if isinstance(step, int):
            here.extend([None] * (step + 1 - len(here)))
            here[step] = fresh if here[step] is None else here[step]
            here = here[step]
        else:
            here = here.setdefault(step, fresh)
    last = steps[-1]
    if isinstance(last, int):
        here.extend([None] * (last + 1 - len(here)))
    here[last] = here[last] + value if join else value


class _Partial:
    """A call whose arguments come as values at paths."""

    def __init__(self, call: Read) -> None:
        self.call = call
        self.value: dict[str, Any] = {}
        self.open_path: str | None = None
        self.ended: set[str] = set()
        self.twice = False

    def take(self, body: dict[str, Any]) -> None:
        for entry in body.get("partialArgs") or []:
            path = entry["jsonPath"]
            kinds = ("stringValue", "numberValue", "boolValue")
            if path in self.ended:
                self.twice = True
            value = next((entry[kind] for kind in kinds if kind in entry), None)
            _put(self.value, _path(path), value, join=path == self.open_path)
            self.open_path = path if entry.get("willContinue") else None
            if not self.open_path:
                self.ended.add(path)
        if not body.get("willContinue"):
            self.call.arguments = compact(self.value)
            self.call.closed = self.open_path is None


class _Candidate:
    def __init__(self, index: int) -> None:
        self.index = index
        self.calls: list[Read] = []
        self.finish: str | None = None
        self.text = ""
        self.partial: _Partial | None = None
        self.conflict = False

    def part(self, part: dict[str, Any]) -> None:
        if "functionCall" not in part:
            if not part.get("thought"):
                self.text += part.get("text") or ""
            return
        body = part["functionCall"]
        streamed = "partialArgs" in body or "willContinue" in body
        if self.partial and not self.partial.call.closed and (streamed or not body) and not body.get("name"):
            self.partial.take(body)
            self.conflict = self.conflict or self.partial.twice
            if self.partial.call.closed:
                self._note_repeat(self.partial.call)
            return
        call = Read(
            body.get("id") or None,
            body.get("name") or "",
            place=(self.index, len(self.calls)),
            group=self.index,
        )
        if not body or (not call.name and streamed):
            self.conflict = self.conflict or bool(body)
            return
        self.conflict = self.conflict or bool(self.partial and not self.partial.call.closed)
        self.calls.append(call)
        args = body.get("args")
        if streamed:
            self.partial = _Partial(call)
            self.partial.take(body)
            if call.closed:
                self._note_repeat(call)
        else:
            call.arguments = "" if args is None else compact(args)
            call.closed = True
            if isinstance(args, Obj) and args.doubled:
                call.problem = "duplicate_key"
            elif args is not None and not isinstance(args, dict):
                call.problem = "malformed"
            self._note_repeat(call)

    def _note_repeat(self, call: Read) -> None:
        """Behind a finish nothing says that an equal call without an id is another one."""
        told = [(other.call_id, other.name, other.arguments) for other in self.calls if other is not call]
        if self.finish and call.call_id is None and (None, call.name, call.arguments) in told:
            call.problem = call.problem or "repeated"

    @property
    def end(self) -> str | None:
        if self.finish is None:
            return None
        if self.finish == "STOP":
            return "completed"
        short = self.finish in SHORT | BLOCKED or self.finish.startswith("IMAGE_")
        return "incomplete" if short else "failed"


def _usage(raw: dict[str, Any]) -> Usage:
    return Usage(
        raw.get("promptTokenCount"),
        raw.get("candidatesTokenCount"),
        raw.get("totalTokenCount"),
        raw.get("cachedContentTokenCount"),
        raw.get("thoughtsTokenCount"),
    )


def _is_array(data: bytes) -> bool:
    return data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["


def read(data: bytes) -> Outcome:
    wire = json_array(data) if _is_array(data) else sse(data)
    turn = Turn(ids_needed=False)
    candidates: dict[int, _Candidate] = {}
    failed = blocked = False
    for _, text in wire.events:
        if not text.strip():
            continue
        try:
            chunk = loads(text)
        except MalformedError:
            failed = True
            break
        if chunk.get("error"):
            failed = True
            break
        if chunk.get("usageMetadata"):
            turn.usage = _usage(chunk["usageMetadata"])
        reason = (chunk.get("promptFeedback") or {}).get("blockReason")
        if reason:
            blocked, turn.reason = True, reason
        for entry in chunk.get("candidates") or []:
            index = entry.get("index", 0)
            candidate = candidates.setdefault(index, _Candidate(index))
            for part in (entry.get("content") or {}).get("parts") or []:
                candidate.part(part)
            candidate.finish = entry.get("finishReason") or candidate.finish
    else:
        failed = wire.broken or _pending_error(wire)
    return _settle(turn, candidates, wire, failed=failed, blocked=blocked)


def _settle(
    turn: Turn, candidates: dict[int, _Candidate], wire: Wire, *, failed: bool, blocked: bool
) -> Outcome:
    ordered = [candidates[index] for index in sorted(candidates)]
    ends = [candidate.end for candidate in ordered]
    if failed:
        turn.fail()
    elif blocked:
        turn.end = "incomplete"
    elif ends and None not in ends:
        turn.end = next((end for end in ("failed", "incomplete") if end in ends), "completed")
        turn.end = turn.end if wire.closed else None
    if ordered and not blocked and not failed:
        turn.reason = ordered[0].finish
    turn.calls = [call for candidate in ordered for call in candidate.calls]
    turn.text = ordered[0].text if ordered else ""
    turn.conflict = any(candidate.conflict for candidate in ordered)
    return turn.outcome()


def _pending_error(wire: Wire) -> bool:
    try:
        chunk = loads(wire.pending.data if wire.pending else "")
    except MalformedError:
        return False
    return isinstance(chunk, dict) and bool(chunk.get("error"))
