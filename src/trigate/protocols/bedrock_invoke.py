"""Bedrock's InvokeModelWithResponseStream: docs/protocols/bedrock-invoke.md.

Rules
 - A `chunk` message holds one event of the model's own protocol, base64 in its member `bytes`. The first one
   decides which protocol that is, and every further one belongs to it.
 - What an event means is told by that protocol's interpreter alone; here is only the envelope.
 - An exception or an error in the framing ends the response, whatever the model's own events said.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.errors import DecodeError, StructureError
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols.anthropic_messages import AnthropicMessages
from trigate.protocols.anthropic_wire import Head
from trigate.protocols.bedrock_converse import BedrockConverse
from trigate.protocols.bedrock_converse_wire import failure_of
from trigate.protocols.profile import Profile
from trigate.protocols.wire import decode, members_of
from trigate.response import Response
from trigate.turn import Turn

if TYPE_CHECKING:
    from trigate.protocols.registry import Interpreter

__all__ = ["BedrockInvoke"]

_MESSAGES = AnthropicMessages.profile
#: That of the Messages events inside; Nova's are those of bedrock-converse.
PROFILE = Profile(
    closes_arguments=_MESSAGES.closes_arguments,
    completes_call=_MESSAGES.completes_call,
    asks_to_run=_MESSAGES.asks_to_run,
    ends_well=_MESSAGES.ends_well,
    ends_otherwise=_MESSAGES.ends_otherwise,
    unknown_end=_MESSAGES.unknown_end,
    terminal=(*_MESSAGES.terminal, "an exception or error message"),
    noise=("ping", "initial-response"),
)
#: Members that Bedrock itself adds to the model's events begin like this.
ADDED = "amazon-bedrock-"
#: Nova's models speak the events of bedrock-converse, each as the one member of an object.
NOVA_EVENTS = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)


class Chunk(msgspec.Struct):
    bytes: str


class InnerEvent(msgspec.Struct, frozen=True):
    """One event of the model's own protocol. Its place in the stream is that of the message around it."""

    event: str
    data_bytes: bytes
    start: int | None
    data_start: int | None = None

    @property
    def data(self) -> str:
        return self.data_bytes.decode()


class BedrockInvoke:
    """Unwraps the messages and hands the events inside to their own interpreter."""

    name: ClassVar[str] = "bedrock-invoke"
    framings: ClassVar[tuple[Framing, ...]] = ("eventstream",)
    requires_call_id: ClassVar[bool] = True
    profile: ClassVar[Profile] = PROFILE
    shapes: ClassVar[Shapes | None] = None  # base64 hides the events

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._inner: Interpreter | None = None

    @staticmethod
    def to_message(response: Response) -> Any:
        return _reader_of(response).to_message(response)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        return _reader_of(response).tool_result_message(response, call, content, is_error)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        """Whether a first event belongs to this protocol (for `auto`)."""
        return event.event == "chunk" and isinstance(value.get("bytes"), str)

    def event(self, event: Frame) -> None:
        turn = self._turn
        kind = event.event
        if kind == "initial-response":
            return
        if turn.is_ended and kind != "chunk":
            turn.anomaly("event_after_end", event.start, f"{kind} after the end")
        elif kind.startswith(("exception:", "error:")):
            self._fail(event)
        elif kind == "chunk":
            self._chunk(event)
        else:
            turn.unknown(f"event type {kind!r}", event.start)
            turn.other(kind, event.data)

    def finish(self, left: Leftover) -> None:
        if self._inner is not None:
            self._inner.finish(left)

    # -- the envelope ------------------------------------------------------------------------------

    def _chunk(self, event: Frame) -> None:
        payload = _payload(decode(event.data_bytes, Chunk, event).bytes, event)
        whole = InnerEvent("chunk", payload, event.start)
        kind = decode(payload, Head, whole).type
        if kind is not None:
            if ADDED.encode() in payload:
                self._take_added(members_of(payload, whole))
            self._hand_on(AnthropicMessages, InnerEvent(kind, payload, event.start))
            return
        members = members_of(payload, whole)
        self._take_added(members)
        for name, data in members.items():
            if name in NOVA_EVENTS:
                self._hand_on(BedrockConverse, InnerEvent(name, data, event.start))
            elif not name.startswith(ADDED):
                self._take_unknown(name, data, event)

    def _take_added(self, members: dict[str, bytes]) -> None:
        """What Bedrock says beside the model: metrics, traces, and whether a guardrail stepped in.

        The model's own stop reason decides also then: a guardrail that only masks a text lets the turn go on.
        """
        for name, data in members.items():
            if name.startswith(ADDED):
                self._turn.other(name, data.decode())

    def _take_unknown(self, name: str, data: bytes, event: Frame) -> None:
        """A member that is no known event. A Messages event without a type may be a lost piece."""
        if isinstance(self._inner, AnthropicMessages):
            raise StructureError(
                f"the event in the chunk at byte {event.start} has no type",
                code="missing_member",
                offset=event.start,
            )
        if self._inner is None:
            raise StructureError(
                f"the event at byte {event.start} belongs to no known model family: its member is {name!r}",
                code="unknown_protocol",
                offset=event.start,
            )
        self._hand_on(type(self._inner), InnerEvent(name, data, event.start))

    def _hand_on(self, reader: type[Interpreter], event: InnerEvent) -> None:
        if self._inner is None:
            self._inner = reader(self._turn)
        if type(self._inner) is reader:
            self._inner.event(event)
        elif self._turn.is_ended:
            self._turn.anomaly("event_after_end", event.start, f"{event.event} after the end")
        else:
            detail = f"{self._inner.name} became {reader.name}"
            self._turn.conflict("protocol_changed", event.start, detail)

    def _fail(self, event: Frame) -> None:
        error = failure_of(event)
        if isinstance(self._inner, AnthropicMessages):
            self._inner.fail(error)
        else:
            self._turn.end("failed", None, error=error, offset=event.start)


def _payload(text: str, event: Frame) -> bytes:
    """The inner event. The framing has no say in its encoding, so that is checked here."""
    try:
        payload = base64.b64decode(text, validate=True)
        payload.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(
            f"the event in the chunk at byte {event.start} is not UTF-8 from its byte {error.start} on",
            code="invalid_utf8",
            offset=event.start,
        ) from None
    except ValueError as error:
        raise DecodeError(
            f"the chunk at byte {event.start} is not base64: {error}",
            code="invalid_base64",
            offset=event.start,
        ) from None
    return payload


def _reader_of(response: Response) -> type[Interpreter]:
    """Whose shapes these blocks have: every Messages block names its type, none of the others does."""
    is_messages = all("type" in json.loads(raw) for raw in response.echo)
    return AnthropicMessages if is_messages else BedrockConverse
