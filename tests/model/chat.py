"""Chat Completions and its dialects, read plainly: per choice a list of calls, closed by the finish alone.

Rules
 - An id that was seen decides the call; a new id with a name opens one; else the index, else the last call.
 - Empty ids and names, and the id "null", are none. A name that equals the one so far is a repeat, another is its rest.
 - Text after the finish, and arguments that belong to no named call, make the turn a conflict.
"""

from __future__ import annotations

from typing import Any

from model.common import (
    MalformedError,
    Outcome,
    Read,
    Turn,
    Usage,
    argument_problem,
    begins_whole,
    compact,
    loads,
    sse,
)

__all__ = ["read"]

GOOD = {"tool_calls", "function_call", "stop", "eos"}
SHORT = {"length", "content_filter"}


class _Choice:
    def __init__(self, index: int) -> None:
        self.index = index
        self.calls: list[Read] = []
        self.newest: dict[int, Read] = {}
        self.finish: str | None = None
        self.text = ""
        self.late = False
        self.orphans = False
        self.at: dict[int, list[Read]] = {}
        self.stand_ins: list[Read] = []

    @property
    def end(self) -> str | None:
        if self.finish is None:
            return None
        if self.finish in ("tool_calls", "function_call") and not self.calls:
            return "failed"
        return "completed" if self.finish in GOOD else "incomplete" if self.finish in SHORT else "failed"

    @property
    def astray(self) -> bool:
        """Whether something came that belongs to no named call."""
        return self.orphans or any(not call.name for call in self.calls)

    def take(self, choice: dict[str, Any]) -> None:
        delta = choice.get("delta") or {}
        content = delta.get("content")
        text = content if isinstance(content, str) else _chunks(content)
        pieces = [*(delta.get("tool_calls") or [])]
        if delta.get("function_call"):
            pieces.append({"index": -1, "function": delta["function_call"], "type": "old"})
        if self.finish is not None and (text or any(_says_something(piece) for piece in pieces)):
            self.late = True
            return
        self.text += text
        for piece in pieces:
            self.piece(piece)
        finish = choice.get("finish_reason")
        if finish and (self.finish is None or finish not in GOOD):
            self.finish = finish

    def piece(self, piece: dict[str, Any]) -> None:
        """One fragment: which call it belongs to, and what it adds."""
        custom = piece.get("type") == "custom" or "custom" in piece
        body = piece.get("custom" if custom else "function") or {}
        call_id = piece.get("id") if piece.get("id") != "null" else None
        name = body.get("name") or None
        given = body.get("input" if custom else "arguments")
        index = piece.get("index")
        if given and index is None and not (call_id or name) and self.newest and len(self.calls) > 1:
            self.late = True  # its like are numbered, so it lost the number that says whose it is
        call = self.find(call_id or None, name, index)
        if call is None:
            self.orphans = self.orphans or bool(given)
            return
        if index is not None:
            rivals = self.at.setdefault(index, [])
            if given and not call_id and any(_unfinished(other) for other in rivals if other is not call):
                self.late = True  # it may belong to a call that began here before, and is not whole
            rivals.append(call)
            self.newest[index] = call
        call.custom = call.custom or custom
        repeats = bool(call_id) and call.call_id == call_id and name == call.name
        call.call_id = call.call_id or call_id or None
        whole = call.arguments and not call.custom and argument_problem(call.arguments) is None
        if name and name != call.name:
            call.name += name
            self.late = self.late or bool(whole)
        text = given if isinstance(given, str) else "" if given is None else compact(given)
        if repeats and text == call.arguments and argument_problem(text) in (None, "duplicate_key"):
            return
        if any(call is other for other in self.stand_ins) and text.startswith("{"):
            call.arguments = ""
        self.stand_ins = [other for other in self.stand_ins if other is not call or not text]
        if text == "{}" and not call.arguments:
            self.stand_ins.append(call)
        call.arguments += text

    def find(self, call_id: str | None, name: str | None, index: int | None) -> Read | None:
        for call in self.calls:
            if call_id and call.call_id == call_id:
                return call
        here = self.newest.get(index) if index is not None else None
        if index is None and not call_id and self.calls and not (name and self.calls[-1].name):
            return self.calls[-1]
        if call_id and here is not None and here.call_id is None and name in (None, here.name):
            return here
        if call_id and here is not None and not name and not _has_enough(here):
            return here  # a server that makes up an id for each fragment: a call of its own would have a name
        if call_id or (here is None and name):
            place = (self.index, len(self.calls) if index is None else index, len(self.calls))
            made = Read(call_id=call_id, place=place, group=self.index)
            self.calls.append(made)
            return made
        return here


def _unfinished(call: Read) -> bool:
    """Whether more of its arguments may come: its text does not begin with a whole object."""
    return not call.custom and not begins_whole(call.arguments)


def _has_enough(call: Read) -> bool:
    return bool(call.arguments) if call.custom else begins_whole(call.arguments)


def _says_something(piece: dict[str, Any]) -> bool:
    body = piece.get("function") or piece.get("custom") or {}
    return bool(piece.get("id") or body.get("name") or body.get("arguments") or body.get("input"))


def _chunks(content: Any) -> str:
    parts = content if isinstance(content, list) else []
    return "".join(part.get("text", "") for part in parts if part.get("type") == "text")


def _usage(raw: dict[str, Any]) -> Usage:
    return Usage(
        raw.get("prompt_tokens"),
        raw.get("completion_tokens"),
        raw.get("total_tokens"),
        (raw.get("prompt_tokens_details") or raw).get("cached_tokens"),
        (raw.get("completion_tokens_details") or raw).get("reasoning_tokens"),
    )


def _end(choices: list[_Choice]) -> str | None:
    """The worst of the choices' ends: nothing runs while one of them is not well."""
    ends = [choice.end for choice in choices]
    if "failed" in ends:
        return "failed"  # also while another choice is open: that much is said
    if not ends or None in ends:
        return None
    return "incomplete" if "incomplete" in ends else "completed"


def read(data: bytes) -> Outcome:
    turn = Turn()
    choices: dict[int, _Choice] = {}
    wire = sse(data)
    failed = done = False
    for name, text in wire.events:
        if text.strip() == "[DONE]":
            done = True
            break
        if not text.strip():
            continue
        try:
            event = loads(text)
        except MalformedError:
            failed = True
            break
        if event.get("usage"):
            turn.usage = _usage(event["usage"])
        if event.get("error") or name == "error":
            failed = True
            break
        for choice in event.get("choices") or []:
            index = choice.get("index", 0)
            choices.setdefault(index, _Choice(index)).take(choice)
            failed = failed or bool(choice.get("error"))
    else:
        failed = failed or wire.broken or _pending_error(wire.pending.data if wire.pending else "")
    ordered = [choices[index] for index in sorted(choices)]
    turn.end = _end(ordered)
    turn.reason = next((choice.finish for choice in ordered if choice.end == turn.end), None)
    pending = wire.pending.data.strip() if wire.pending else ""
    turn.needs(wire.closed or done or (bool(pending) and "[DONE]".startswith(pending)))
    if failed:
        turn.fail()
    turn.calls = [call for choice in ordered for call in choice.calls]
    turn.text = choices[0].text if 0 in choices else ""
    for choice in ordered:
        turn.conflict = turn.conflict or choice.late or (choice.astray and choice.end == "completed")
        for call in choice.calls:
            call.closed = choice.finish is not None
    return turn.outcome()


def _pending_error(text: str) -> bool:
    try:
        event = loads(text)
    except MalformedError:
        return False
    return isinstance(event, dict) and bool(event.get("error"))
