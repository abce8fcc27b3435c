"""What a response came to: a picture of one moment, immutable.

Rules
 - `released` holds the calls that may run; with release_on="response" it is empty unless `status` is completed.
 - Every deviation from the protocol that was tolerated stands in `anomalies`.
 - A provider's error keeps its own type, code and message (layer "provider").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from trigate import errors
from trigate.calls import ReleasedCall, ToolCall
from trigate.notes import Anomaly, Decision

__all__ = ["Anomaly", "Decision", "ErrorInfo", "Response", "ServerCall", "Status", "Usage"]

Status: TypeAlias = Literal[
    "in_progress", "completed", "incomplete", "failed", "cancelled", "truncated", "conflict"
]


class Usage(msgspec.Struct, frozen=True):
    """Tokens as the provider counted them; None where the wire did not say. raw: its own object."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    raw: dict[str, Any] | None = None


class ErrorInfo(msgspec.Struct, frozen=True):
    """Why a response is not completed.

    layer: who has to act (see trigate.errors). type, code: the provider's own words where layer is "provider".
    offset: bytes from the start of the stream. raw: the provider's own object; of an HTTP error
    {"status", "retry_after", "body"}. limit: the bound that was passed. http_status: of an HTTP error. cause: the
    exception of the connection or of the client library.
    """

    layer: str
    type: str
    code: str | int
    message: str
    offset: int | None = None
    raw: Any = None
    limit: str | None = None
    http_status: int | None = None
    cause: BaseException | None = None


class ServerCall(msgspec.Struct, frozen=True):
    """Something that the provider ran itself: never to be run by the client. raw: the item's JSON text."""

    type: str
    id: str | None
    name: str | None
    status: str | None
    raw: str


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """One response, so far or at its end.

    status          "in_progress", "completed", "incomplete", "failed", "cancelled", "truncated", "conflict"
    reason          the wire's own word for how it ended, or None: an error object is none (see error)
    calls           every tool call seen, in the order of the wire's positions; a released one as its ReleasedCall
    released        those that may run
    text            the assistant's visible text (of the first choice; `texts` has all)
    reasoning, refusal   likewise joined
    usage           None until the provider said
    id, model       None until the provider said
    error           why it is not completed, or None
    anomalies       what was tolerated
    decisions       what decided the calls and the verdict, in order
    clean_end       a terminal event came, and after it the input ended at the border of an event
    protocol        the protocol it was read by
    server_calls    what the provider ran itself
    echo            the raw JSON of the turn's own parts: what to_message() is made from
    sequence_number, last_event_id   of the last event taken; None where not every event had one (see resume_point)
    """

    status: Status
    protocol: str
    reason: str | None = None
    calls: tuple[ToolCall, ...] = ()
    texts: tuple[str, ...] = ("",)
    reasoning: str = ""
    refusal: str = ""
    usage: Usage | None = None
    id: str | None = None
    model: str | None = None
    error: ErrorInfo | None = None
    anomalies: tuple[Anomaly, ...] = ()
    decisions: tuple[Decision, ...] = ()
    clean_end: bool = False
    server_calls: tuple[ServerCall, ...] = ()
    echo: Sequence[bytes] = ()
    sequence_number: int | None = None
    last_event_id: str | None = None

    @property
    def text(self) -> str:
        return self.texts[0]

    @property
    def released(self) -> tuple[ReleasedCall, ...]:
        return tuple(call for call in self.calls if isinstance(call, ReleasedCall))

    def to_message(self) -> Any:
        """The assistant's turn in the provider's own shape, to be sent back before the results.

        Opaque members (signatures, encrypted reasoning) are unchanged. Of a response that is not completed the
        client's calls are left out: nothing may answer them.
        """
        from trigate.protocols import interpreter

        return interpreter(self.protocol).to_message(self)

    def tool_result_message(self, call: ToolCall, content: Any, is_error: bool = False) -> Any:
        """The result of one call in the provider's own shape.

        ValueError if the call cannot be answered: it has no id, or the response did not end well, so that
        to_message() leaves its calls out.
        """
        if self.status not in ("completed", "in_progress"):
            raise ValueError(
                f"the response is {self.status}, so its calls are not sent back and cannot be answered: "
                "make the request again"
            )
        from trigate.protocols import interpreter

        return interpreter(self.protocol).tool_result_message(self, call, content, is_error)

    def raise_for_status(self) -> Response:
        """Returns itself if completed; else raises the TrigateError that fits, with the error's members."""
        if self.status == "completed":
            return self
        info = self.error
        if info is None:
            raise errors.IncompleteError(
                f"the response is {self.status}" + (f" ({self.reason})" if self.reason else ""),
                code=self.reason or self.status,
            )
        error = _error_of(info)
        if info.cause is None:
            raise error
        raise error from info.cause


def _error_of(info: ErrorInfo) -> errors.TrigateError:
    code = str(info.code)
    if info.layer == "provider":
        return errors.ProviderError(
            info.message, code=code, type=info.type, offset=info.offset, http_status=info.http_status
        )
    if info.layer == "limit":
        return errors.LimitError(info.message, code=code, limit=info.limit, offset=info.offset)
    return _BY_LAYER[info.layer](info.message, code=code, offset=info.offset)


_BY_LAYER: dict[str, type[errors.TrigateError]] = {
    "transport": errors.TransportError,
    "decode": errors.DecodeError,
    "structure": errors.StructureError,
}
