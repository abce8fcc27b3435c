"""`trigate calls`: the calls of a stream, those that may run and those that may not and why, and the verdict.

Rules
 - The library decides; this file only shows. What it prints and its exit code are those of one Response.
"""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from trigate.calls import ToolCall
from trigate.cli.explain import explain
from trigate.cli.render import Row, Screen, dump_json, shorten
from trigate.cli.source import chunks
from trigate.parser import ResponseParser
from trigate.response import Anomaly, ErrorInfo, Response, Usage

__all__ = ["EXIT_CODES", "run"]

#: By Response.status. A cancelled response ended early on purpose, as an incomplete one did.
EXIT_CODES = {
    "completed": 0,
    "truncated": 3,
    "failed": 4,
    "incomplete": 5,
    "cancelled": 5,
    "conflict": 6,
}
_HEAD = ("CALL_ID", "NAME", "STATE", "PROBLEM", "ARGUMENTS")
_PREVIEW = 60


def run(options: argparse.Namespace) -> int:
    parser = ResponseParser(
        options.protocol,
        release_on=options.release_on,
        lenient=options.lenient,
        strict=options.strict,
        deltas=False,
    )
    seen = bytearray()
    for chunk in chunks(options.file, progress=True):
        parser.feed(chunk)
        if options.explain:
            seen += chunk
    response = parser.finish()
    screen = Screen()
    if options.json:
        screen.write(_as_json(response, 2 if screen.is_terminal else None))
    else:
        _show(response, screen)
        if options.explain:
            explain(response, bytes(seen), screen)
    return EXIT_CODES[response.status]


# -- for programs ----------------------------------------------------------------------------------


def _as_json(response: Response, indent: int | None) -> str:
    members = {
        "status": response.status,
        "reason": response.reason,
        "protocol": response.protocol,
        "id": response.id,
        "model": response.model,
        "calls": [_call_members(call) for call in response.calls],
        "released": [call.call_id for call in response.released],
        "text": response.text,
        "reasoning": response.reasoning,
        "refusal": response.refusal,
        "usage": _members(response.usage),
        "error": _members(response.error),
        "anomalies": [_members(anomaly) for anomaly in response.anomalies],
        "decisions": [_members(decision) for decision in response.decisions],
        "clean_end": response.clean_end,
        "server_calls": [_members(call) for call in response.server_calls],
    }
    try:
        return dump_json(members, indent=indent)
    except (ValueError, RecursionError):
        # A provider's own object can hold NaN, or nest deeper than can be written; all else cannot.
        for part in (members["usage"], members["error"]):
            if isinstance(part, dict):
                part["raw"] = None
        return dump_json(members, indent=indent)


def _call_members(call: ToolCall) -> dict[str, Any]:
    return {
        "call_id": call.call_id,
        "name": call.name,
        "kind": call.kind,
        "state": call.state,
        "problem": call.problem,
        "flags": list(call.flags),
        "index": call.index,
        "wire_key": list(call.wire_key),
        "arguments": call.arguments,
    }


def _members(value: msgspec.Struct | None) -> dict[str, Any] | None:
    return None if value is None else msgspec.structs.asdict(value)


# -- for people ------------------------------------------------------------------------------------


def _show(response: Response, screen: Screen) -> None:
    if response.calls:
        screen.table(_HEAD, [_row(call) for call in response.calls])
        screen.write("")
    screen.details(
        [
            *_identity(response),
            *_texts(response),
            *_notes(response),
            ("verdict", f"{response.status}: {_verdict(response)}"),
            *([("why", _error(response.error))] if response.error is not None else []),
        ]
    )


def _row(call: ToolCall) -> Row:
    kind = "" if call.kind == "function" else f" ({call.kind})"
    return (call.call_id or "-", (call.name or "-") + kind, call.state, call.problem or "-", call.arguments)


def _identity(response: Response) -> list[Row]:
    rows: list[Row] = [("protocol", response.protocol)]
    if response.id or response.model:
        rows.append(("response", " ".join(filter(None, (response.id, response.model)))))
    return rows


def _texts(response: Response) -> list[Row]:
    rows: list[Row] = []
    for label in ("text", "reasoning", "refusal"):
        text: str = getattr(response, label)
        if text:
            rows.append((label, f"{len(text)} characters: {shorten(text, _PREVIEW)}"))
    if response.usage is not None:
        rows.append(("usage", _usage(response.usage)))
    return rows


def _usage(usage: Usage) -> str:
    counts = (
        ("input", usage.input_tokens),
        ("output", usage.output_tokens),
        ("total", usage.total_tokens),
        ("cached", usage.cached_tokens),
        ("reasoning", usage.reasoning_tokens),
    )
    return ", ".join(f"{name} {count}" for name, count in counts if count is not None) + " tokens"


def _notes(response: Response) -> list[Row]:
    """What is worth a look, although it did not decide."""
    rows: list[Row] = [
        ("flags", f"{call.call_id or call.name}: {', '.join(call.flags)}")
        for call in response.calls
        if call.flags
    ]
    for call in response.server_calls:
        words = (call.type, call.name, call.id, call.status)
        rows.append(("server", " ".join(filter(None, words)) + " (not for the client to run)"))
    rows += [("anomaly", _anomaly(anomaly)) for anomaly in response.anomalies]
    return rows


def _anomaly(anomaly: Anomaly) -> str:
    return f"{anomaly.code}{_place(anomaly.offset)}: {anomaly.detail}"


def _place(offset: int | None) -> str:
    return "" if offset is None else f" at byte {offset}"


def _verdict(response: Response) -> str:
    seen, may_run = len(response.calls), len(response.released)
    reason = response.reason
    told = f" ({reason})" if reason and reason != response.status else ""
    if not seen:
        return f"no tool calls{told}"
    if may_run and response.status != "completed":
        return f"{may_run} of {seen} calls had been released before the end{told}"
    return f"{may_run} of {seen} calls may run{told}"


def _error(error: ErrorInfo) -> str:
    code = str(error.code)
    kind = f"{error.type} {code}" if error.layer == "provider" and error.type not in ("error", code) else code
    place = _place(error.offset)
    return f"{error.layer} {kind}{'' if place in error.message else place}: {error.message}"
