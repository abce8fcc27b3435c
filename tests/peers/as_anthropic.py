"""Puts trigate.compat.anthropic's decoder under every client and in the place of the SDK's, for its own tests."""

from __future__ import annotations

from importlib import import_module

from trigate.compat import anthropic as face

face.patch()
import_module("anthropic._streaming").__dict__["SSEDecoder"] = face.Decoder
