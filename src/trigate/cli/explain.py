"""`trigate calls --explain`: which rule decided, and by which bytes.

Rules
 - It invents nothing: the decisions are the Response's own, the bytes are those of the input, and what completion
   means is the protocol's own profile.
"""

from __future__ import annotations

from trigate.cli.render import Row, Screen
from trigate.protocols import interpreter
from trigate.response import Response

__all__ = ["RULES", "explain"]

#: Why each decision is what it is.
RULES = {
    "call_started": "a call begins: it can be shown, never run",
    "call_done": "the protocol closed the call and its text is whole: not yet allowed to run",
    "call_void": "what is void stays void: this call never runs",
    "call_released": "the call is whole, and the release policy is met: it may run",
    "conflict": "the stream contradicts itself: nothing more of it may run",
    "ended": "the first end counts: nothing that follows can heal or spoil it",
}
_HEAD = ("BYTE", "DECISION", "WHAT", "EVENT")
_EXCERPT = 160


def explain(response: Response, data: bytes, screen: Screen) -> None:
    """The decisions in order, the rule behind each kind, and the protocol's profile. data: the whole input."""
    screen.write("")
    screen.table(_HEAD, [_row(step.offset, step.rule, step.detail, data) for step in response.decisions])
    screen.write("")
    kinds = dict.fromkeys(step.rule for step in response.decisions)
    screen.details([(kind, RULES[kind]) for kind in kinds])
    screen.write("")
    screen.details(_profile(response.protocol))


def _row(offset: int | None, rule: str, detail: str, data: bytes) -> Row:
    if offset is None:
        return ("end", rule, detail, "")
    excerpt = data[offset : offset + _EXCERPT].decode("utf-8", "replace")
    return (str(offset), rule, detail, excerpt + ("…" if offset + _EXCERPT < len(data) else ""))


def _profile(protocol: str) -> list[Row]:
    profile = interpreter(protocol).profile
    rows = [
        ("closes arguments", ", ".join(profile.closes_arguments) or "nothing on the wire"),
        ("completes a call", ", ".join(profile.completes_call) or "nothing on the wire"),
        ("asks to run", ", ".join(profile.asks_to_run)),
        ("ends well", ", ".join(profile.ends_well)),
        (
            "ends otherwise",
            ", ".join(f"{word} ({status})" for word, status in profile.ends_otherwise.items()),
        ),
        ("over at", ", ".join(profile.terminal)),
    ]
    return [("in " + protocol, ""), *((f"  {label}", value) for label, value in rows if value)]
