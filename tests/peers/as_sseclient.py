"""Puts trigate.compat.sseclient in the place of sseclient, for the peer's own tests."""

from __future__ import annotations

import sys

import trigate.compat.sseclient as face

sys.modules["sseclient"] = face
