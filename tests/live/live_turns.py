"""The turns that are asked for, and one of them taken: fed to trigate byte for byte while the server writes.

The token limits of the cut turns were found by trial; the tests check that they still cut inside arguments.
"""

from __future__ import annotations

from dataclasses import dataclass

from asking import PING, TRANSFER, WEATHER, Api, Ask, pieces

import trigate

__all__ = ["CUT", "CUT_IN_SECOND", "GOOD", "TEXT", "TWO", "Taken", "take"]

_ONE = "\n<tool_call>"
GOOD = Ask("Call transfer: 1000 euros to Anna.", 60, (TRANSFER,), _ONE)
CUT = Ask("Call transfer: 1000 euros to Anna.", 33, (TRANSFER,), _ONE)
TEXT = Ask("The capital of France is", 20, (), "\n")
# The model calls the tools in their order; it is stopped where it would name the third.
TWO = Ask("Call each tool.", 80, (PING, WEATHER, TRANSFER), "transfer")
CUT_IN_SECOND = Ask("Call each tool.", 48, (PING, WEATHER, TRANSFER), "transfer")


@dataclass(frozen=True)
class Taken:
    """The bytes of one answer, and what came of them: read by the named protocol, and by "auto"."""

    stream: bytes
    named: trigate.Response
    auto: trigate.Response


def take(address: tuple[str, int], api: Api, ask: Ask) -> Taken:
    named, auto = trigate.ResponseParser(api.protocol), trigate.ResponseParser("auto")
    stream = bytearray()
    for piece in pieces(address, api, ask):
        stream += piece
        named.feed(piece)
        auto.feed(piece)
        assert named.response.status != "in_progress" or not named.response.released
    return Taken(bytes(stream), named.finish(), auto.finish())
