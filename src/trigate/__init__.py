"""trigate: the byte stream of a model API in, completed and validated tool calls out.

Three gates stand between a byte and an action: the character is whole, the event is whole, the call is whole.
"""

from __future__ import annotations

from trigate._core import (
    EventStreamDecoder,
    EventStreamMessage,
    JSONArrayDecoder,
    JSONTracker,
    NDJSONDecoder,
    Record,
    ServerSentEvent,
    SSEDecoder,
)
from trigate.calls import ReleasedCall, ToolCall
from trigate.errors import (
    AuthorizationError,
    DecodeError,
    EnvironmentStateError,
    IncompleteError,
    LimitError,
    ModelError,
    ProviderError,
    StructureError,
    TransportError,
    TrigateError,
    UnknownOutcomeError,
)
from trigate.items import (
    ArgumentsDelta,
    Item,
    OtherEvent,
    ReasoningDelta,
    RefusalDelta,
    ResponseEnded,
    TextDelta,
    ToolCallDone,
    ToolCallStarted,
    UsageUpdate,
)
from trigate.leftover import Leftover
from trigate.limits import Limits
from trigate.notes import Anomaly, Decision
from trigate.parser import ResponseParser
from trigate.protocols import PROTOCOLS
from trigate.response import ErrorInfo, Response, ServerCall, Usage
from trigate.resume import ResumePoint, resume_point
from trigate.sources import aiter_items, iter_items, parse
from trigate.validate import LENIENCIES

__version__ = "0.1.0"

__all__ = [
    "LENIENCIES",
    "PROTOCOLS",
    "Anomaly",
    "ArgumentsDelta",
    "AuthorizationError",
    "Decision",
    "DecodeError",
    "EnvironmentStateError",
    "ErrorInfo",
    "EventStreamDecoder",
    "EventStreamMessage",
    "IncompleteError",
    "Item",
    "JSONArrayDecoder",
    "JSONTracker",
    "Leftover",
    "LimitError",
    "Limits",
    "ModelError",
    "NDJSONDecoder",
    "OtherEvent",
    "ProviderError",
    "ReasoningDelta",
    "Record",
    "RefusalDelta",
    "ReleasedCall",
    "Response",
    "ResponseEnded",
    "ResponseParser",
    "ResumePoint",
    "SSEDecoder",
    "ServerCall",
    "ServerSentEvent",
    "StructureError",
    "TextDelta",
    "ToolCall",
    "ToolCallDone",
    "ToolCallStarted",
    "TransportError",
    "TrigateError",
    "UnknownOutcomeError",
    "Usage",
    "UsageUpdate",
    "aiter_items",
    "iter_items",
    "parse",
    "resume_point",
]
