"""What a tap knows of one stream, as data: for a log line, a metric, a bill.

Rules
 - Plain data alone: `msgspec.json.encode(report)` and `msgspec.to_builtins(report)` take it, whatever came over the
   wire: a lone surrogate, which no encoding has, is told as "?".
 - No text, no reasoning and no arguments: of a call its name and its sizes.
"""

from __future__ import annotations

import json
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from trigate.calls import CallState, ToolCall
from trigate.response import Anomaly, ErrorInfo, Status, Usage

__all__ = ["TapCall", "TapReport", "encodable", "tap_call"]


class TapCall(msgspec.Struct, frozen=True):
    """One call: who, how far, and where it stood (bytes from the start of the stream).

    state: "streaming", "done", "released" (it may run) or "void"; problem: why it is void.
    arguments_bytes: the size of its argument text so far, as UTF-8.
    """

    call_id: str | None
    name: str
    state: CallState
    problem: str | None
    arguments_bytes: int
    start: int | None
    end: int | None


class TapReport(msgspec.Struct, frozen=True, kw_only=True):
    """One stream, so far or at its end. Times are seconds of the tap's clock; None for what has not happened.

    status, reason, protocol, id, model, usage, error, anomalies, clean_end   as in Response
    calls           every call, in the order of the wire's positions
    bytes           bytes fed
    chunks          chunks fed, empty ones left out
    events          whole events, records or messages
    first_byte      from the making of the tap to its first byte
    first_content   from the making of the tap to the first piece of text, reasoning, refusal or arguments
    last_content    the same for the last one
    largest_gap     the longest time between two chunks with content
    long_gaps       how many of those times were longer than the tap's `pause`
    duration        from the making of the tap to its end, or until now
    cause           what `finish` was told: why the input ended, if it did not end by itself
    """

    protocol: str
    status: Status
    reason: str | None = None
    id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    error: ErrorInfo | None = None
    anomalies: tuple[Anomaly, ...] = ()
    clean_end: bool = False
    calls: tuple[TapCall, ...] = ()
    bytes: int = 0
    chunks: int = 0
    events: int = 0
    first_byte: float | None = None
    first_content: float | None = None
    last_content: float | None = None
    largest_gap: float | None = None
    long_gaps: int = 0
    duration: float = 0.0
    cause: str | None = None


def tap_call(call: ToolCall) -> TapCall:
    """What a report says of a call."""
    return TapCall(call.call_id, call.name, call.state, call.problem, call._lane.size, call.start, call.end)


def encodable(report: TapReport) -> TapReport:
    """The report in a form that can be written as JSON: itself, if it can."""
    try:
        msgspec.json.encode(report)
    except UnicodeEncodeError:
        with suppress(RecursionError):
            text = json.dumps(msgspec.to_builtins(report), ensure_ascii=False)
            return msgspec.convert(json.loads(text.encode("utf-8", "replace")), TapReport)
    except RecursionError:
        pass
    else:
        return report
    # Only the provider's own objects are so deep.
    usage = report.usage and replace(report.usage, raw=None)
    error = report.error and replace(report.error, raw=None)
    return encodable(replace(report, usage=usage, error=error))
