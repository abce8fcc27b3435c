"""What a gateway needs beside the bytes that it forwards: what a stream says, and whether its calls may pass.

`Tap` listens and changes nothing. `CallGate` holds a call's bytes back until it is whole and allowed.
"""

from __future__ import annotations

from trigate.tap.gate import CallGate, GateDecision
from trigate.tap.meter import Tap
from trigate.tap.report import TapCall, TapReport

__all__ = ["CallGate", "GateDecision", "Tap", "TapCall", "TapReport"]
