"""Ollama's native chat stream, read plainly: one record a line, calls whole within a record.

Rules
 - Calls run if the record with `done: true` says `stop`.
 - The same call told twice (by id; without one by index, name and arguments) is one call.
 - Arguments are objects on this wire: their text here is compact JSON, to be compared by value.
"""

from __future__ import annotations

from typing import Any

from model.common import MalformedError, Obj, Outcome, Read, Turn, Usage, compact, loads, ndjson

__all__ = ["read"]

ENDS = {"stop": "completed", "load": "completed", "unload": "completed", "length": "incomplete"}


def _call(entry: dict[str, Any], place: int) -> Read:
    body = entry.get("function") or {}
    args = body.get("arguments")
    call = Read(entry.get("id") or None, body.get("name") or "", place=(place,), closed=True)
    call.arguments = args if isinstance(args, str) else "" if args is None else compact(args)
    if isinstance(args, Obj) and args.doubled:
        call.problem = "duplicate_key"
    elif args is not None and not isinstance(args, dict | str):
        call.problem = "malformed"
    return call


def _record(turn: Turn, record: dict[str, Any], told: set[Any]) -> None:
    message = record.get("message") or {}
    turn.text += message.get("content") or record.get("response") or ""
    for entry in message.get("tool_calls") or []:
        call = _call(entry, len(turn.calls))
        index = (entry.get("function") or {}).get("index")
        same = call.call_id or (index, call.name, call.arguments)
        known = next((other for other in turn.calls if call.call_id and other.call_id == call.call_id), None)
        if known and (known.name, known.arguments) != (call.name, call.arguments):
            turn.conflict = True
        elif same in told and (call.call_id or index is not None):
            continue
        told.add(same)
        turn.calls.append(call)
    if record.get("done"):
        turn.reason = record.get("done_reason")
        turn.end = ENDS.get(turn.reason or "", "failed")
        if "prompt_eval_count" in record or "eval_count" in record:
            turn.usage = Usage(record.get("prompt_eval_count"), record.get("eval_count"))


def _error(text: str) -> bool:
    try:
        record = loads(text)
    except MalformedError:
        return False
    return isinstance(record, dict) and bool(record.get("error"))


def read(data: bytes) -> Outcome:
    wire = ndjson(data)
    turn = Turn(ids_needed=False)
    told: set[Any] = set()
    for _, text in wire.events:
        if turn.end:
            break
        try:
            record = loads(text)
        except MalformedError:
            turn.fail()
            break
        if record.get("error"):
            turn.fail()
        else:
            _record(turn, record, told)
    if not turn.end and (wire.broken or (wire.pending and _error(wire.pending.data))):
        turn.fail()
    return turn.outcome()
