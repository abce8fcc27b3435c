"""`auto`: the first event that means anything decides which protocol the stream speaks.

Rules
 - The choice is made once and said in `response.protocol`.
 - What cannot be told fails the response with a way out; it is never guessed.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.errors import StructureError
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols.bedrock_converse_wire import failure_of
from trigate.protocols.profile import Profile
from trigate.protocols.registry import PROTOCOLS, Interpreter
from trigate.protocols.wire import decode, error_info, fields_of, is_error
from trigate.response import Response
from trigate.turn import Turn

__all__ = ["Auto"]

# Keep-alives may come before the first event that tells the protocol; each is a few bytes.
_HELD = 1000
_UNKNOWN = "the response's protocol was never found out, so it has no message"


class _Anything(msgspec.Struct):
    """An object of any members: what is no JSON object fails here, with its byte."""


class Auto:
    """Stands in for the interpreter until the protocol is known, then hands every event on to it."""

    name: ClassVar[str] = "auto"
    framings: ClassVar[tuple[Framing, ...]] = ("sse", "ndjson", "json-array", "eventstream")
    requires_call_id: ClassVar[bool] = True
    profile: ClassVar[Profile] = Profile(
        closes_arguments=(),
        completes_call=(),
        asks_to_run=(),
        ends_well=(),
        ends_otherwise={},
        unknown_end="failed",
        terminal=(),
        noise=("ping", "keepalive"),
    )
    shapes: ClassVar[Shapes | None] = None  # those of the protocol, once it is chosen

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._chosen: Interpreter | None = None
        self._held: list[Frame] = []

    def event(self, event: Frame) -> None:
        if self._chosen is None and event.event.startswith(("exception:", "error:")):
            # The framing itself says that it failed: that needs no protocol.
            error = failure_of(event)
            self._turn.end("failed", None, error=error, offset=event.start)
        elif self._chosen is None and event.data_bytes.strip() and not self._turn.is_ended:
            self._choose(event)
        if self._chosen is None:
            return
        for held in self._held:
            self._chosen.event(held)
        self._held.clear()
        self._chosen.event(event)

    def _choose(self, event: Frame) -> None:
        if event.data.strip() == "[DONE]":
            return
        if event.event == "error" and event.data.lstrip()[:1] not in "{[":
            self._fail(event.data.strip(), event)
            return
        decode(event.data_bytes, _Anything, event)
        value = fields_of(event.data_bytes, event)
        if isinstance(value, dict):
            for reader in PROTOCOLS.values():
                if reader.recognises(event, value):
                    self._turn.protocol = reader.name
                    self._turn.requires_call_id = reader.requires_call_id
                    self._turn.lanes.shapes = reader.shapes
                    self._chosen = reader(self._turn)
                    return
            if (value.get("type") or event.event) in self.profile.noise and len(self._held) < _HELD:
                self._held.append(event)
                return
            if is_error(value) or event.event == "error":
                self._fail(value, event)
                return
        raise StructureError(
            f"the event at byte {event.start} belongs to no known protocol; "
            f"name the protocol instead of auto: {', '.join(PROTOCOLS)}",
            code="unknown_protocol",
            offset=event.start,
        )

    def _fail(self, value: Any, event: Frame) -> None:
        self._turn.end("failed", None, error=error_info(value, event.start), offset=event.start)

    def finish(self, left: Leftover) -> None:
        if self._chosen is not None:
            self._chosen.finish(left)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        return False

    @staticmethod
    def to_message(response: Response) -> Any:
        raise ValueError(_UNKNOWN)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        raise ValueError(_UNKNOWN)
