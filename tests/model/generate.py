"""Whole generated turns of each protocol, as lists of frames: right ones, odd ones, and ones that end badly."""

from __future__ import annotations

from hypothesis import strategies as st

from model.plans import plans
from model.writers import QUIRKS, WRITERS

__all__ = ["good_turns", "turns"]


def turns(protocol: str) -> st.SearchStrategy[list[bytes]]:
    """Any turn: faults in the arguments, quirks of dialects, all kinds of ends."""
    return plans(QUIRKS[protocol]).map(WRITERS[protocol])


#: Quirks that leave a turn right: what a server may do without contradicting itself.
HARMLESS = {
    "array",
    "calls_at_the_end",
    "comment",
    "crlf",
    "empty_choices",
    "empty_piece",
    "finish_with_call",
    "interleaved",
    "keepalive",
    "no_ids",
    "no_names",
    "no_sentinel",
    "one_based",
    "one_record",
    "ping",
    "plan",
    "sentinel",
    "server_tool",
    "stop",
    "usage",
    "whole",
}


def good_turns(protocol: str) -> st.SearchStrategy[list[bytes]]:
    """Turns with nothing wrong: what mutations start from."""
    quirks = tuple(quirk for quirk in QUIRKS[protocol] if quirk in HARMLESS and quirk != "array")
    return plans(quirks, faults=False, ends=("good",)).map(WRITERS[protocol])
