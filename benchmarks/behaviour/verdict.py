"""From what a user has in hand to one verdict a cell.

Rules
 - What would run counts before everything else, also before an error that comes after it.
 - A call that would run is compared with what trigate releases for the same bytes, by name and value.
   Equal: `agrees`. Else `runs`; and `invents` if its arguments are no JSON value that trigate found whole
   on the wire for any call.
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

from cells import MEANT

__all__ = ["VERDICTS", "Verdict", "shown", "text_of", "verdict"]

Verdict: TypeAlias = Literal[
    "agrees", "runs", "invents", "marked", "unreadable", "error", "no call", "no answer"
]
#: Each with the words of the page.
VERDICTS: dict[Verdict, str] = {
    "agrees": "runs what trigate releases too",
    "runs": "**RUNS** a call that trigate holds back",
    "invents": "**RUNS** one with arguments that the wire never held whole",
    "error": "raises an error",
    "marked": "hands a call over, marked",
    "unreadable": "hands a call over whose arguments are no JSON",
    "no call": "hands over no call",
    "no answer": "gives no answer in time",
}

#: What was handed over, in the order and with the words of a cell.
FATES = {"runs": "runs", "unreadable": "no JSON:", "marked": "marked:"}


def value_of(arguments: Any) -> Any:
    """What a user's loop makes of the arguments: a text is read, and an empty one stands for no members."""
    if not isinstance(arguments, str):
        return arguments or {}
    try:
        return json.loads(arguments) if arguments else {}
    except ValueError:
        return arguments


def verdict(seen: dict[str, Any], ours: dict[str, Any]) -> Verdict:
    running = [call for call in seen["calls"] if call["fate"] == "runs"]
    if running:
        told = [(call["name"], value_of(call["arguments"])) for call in running]
        allowed = [(call["name"], call["arguments"]) for call in ours["released"]]
        if is_within(told, allowed):
            return "agrees"
        whole = [arguments for _, arguments in allowed] + [
            whole_value(call["arguments"]) for call in ours["held"]
        ]
        return "runs" if all(arguments in whole for _, arguments in told) else "invents"
    if seen["error"] is not None:
        return "no answer" if seen["error"] == "timeout" else "error"
    if not seen["calls"]:
        return "no call"
    return "marked" if any(call["fate"] == "marked" for call in seen["calls"]) else "unreadable"


def is_within(told: list[Any], allowed: list[Any]) -> bool:
    """Whether each is one of the allowed, and none is there more often."""
    left = list(allowed)
    for call in told:
        if call not in left:
            return False
        left.remove(call)
    return True


def whole_value(arguments: str) -> Any:
    """The JSON value of a text, or something that equals no value."""
    try:
        return json.loads(arguments)
    except ValueError:
        return object()


def text_of(seen: dict[str, Any], ours: dict[str, Any]) -> str:
    """The cell of the page: what runs, what else was handed over, and how it ended."""
    found = verdict(seen, ours)
    parts = []
    for fate, words in FATES.items():
        calls = [call for call in seen["calls"] if call["fate"] == fate]
        if calls:
            bold = fate == "runs" and found != "agrees"
            parts.append(f"{'**RUNS**' if bold else words} {', '.join(shown(call) for call in calls)}")
    if seen["error"]:
        parts.append("no answer" if seen["error"] == "timeout" else f"error `{seen['error']}`")
    if not parts:
        parts.append(f"no call, finish `{seen['finish']}`" if seen["finish"] else "no call")
    return "; ".join(parts)


def shown(call: dict[str, Any]) -> str:
    """Its letter, if it is a call as the turn meant it; else name and arguments."""
    arguments, why = call["arguments"], call.get("why")
    after = f" ({why})" if why else ""
    if call["name"] is None and arguments is None:
        return str(why)
    for letter, meant in MEANT.items():
        if (call["name"], value_of(arguments)) == (meant.name, meant.value):
            return letter + after
    told = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"`{call['name'] or 'nameless'} {told}`".replace("|", "\\|") + after
