"""Bedrock's InvokeModelWithResponseStream, read plainly: a provider's own events, base64 in `chunk` frames.

Rules
 - Anthropic's models send their events as they are; Amazon's send those of ConverseStream, each named by its member.
 - An exception frame is an error event; what is no base64 is broken JSON.
"""

from __future__ import annotations

import base64

from model import anthropic, bedrock
from model.common import Event, MalformedError, Outcome, compact, eventstream, loads

__all__ = ["read"]


def _inner(name: str, payload: str) -> str:
    if name.startswith("!"):
        return '{"type":"error"}'
    try:
        return base64.b64decode(loads(payload)["bytes"], validate=True).decode("utf-8")
    except (ValueError, KeyError):
        return "{broken"


def _converse(text: str) -> Event:
    """`{"contentBlockStop": {...}}` as the frame that it would be."""
    try:
        event = loads(text)
    except MalformedError:
        return Event("", text)
    name = "!error" if event.get("type") == "error" else next(iter(event))
    return Event(name, compact(event[name]) if name in event else text)


def read(data: bytes) -> Outcome:
    wire = eventstream(data)
    texts = [_inner(name, payload) for name, payload in wire.events]
    if any('"messageStart"' in text for text in texts[:1]):
        events = [_converse(text) for text in texts]
        return bedrock.read_wire(wire._replace(events=events))
    return anthropic.read_wire(wire._replace(events=[Event("", text) for text in texts]))
