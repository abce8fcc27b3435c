"""What can go wrong, told so that a program can decide what to do next.

Rules
 - One tree under `TrigateError`. Every error has a `code` (a stable word), a `layer` (who has to act)
   and, where a place in the stream is known, an `offset` in bytes from its start.
 - The message says what was found, where, and what was expected.
 - Misuse of the API is `TypeError`, `ValueError` or `RuntimeError`, never a `TrigateError`.

Layers: `transport` (the connection), `decode` (UTF-8, SSE, JSON), `structure` (missing or contradicting
members), `limit` (a bound of `Limits`), `provider` (its own word, with its own type and code), `model` (bad arguments:
to be told to the model), `authorization` (not permitted), `environment` (not found, stale, the tool itself failed),
`unknown_outcome` (it may have happened: look before anything is done again).
"""

from __future__ import annotations

__all__ = [
    "AuthorizationError",
    "DecodeError",
    "EnvironmentStateError",
    "IncompleteError",
    "LimitError",
    "ModelError",
    "ProviderError",
    "StructureError",
    "TransportError",
    "TrigateError",
    "UnknownOutcomeError",
]


class TrigateError(Exception):
    """Base of all errors that come from the data, not from the caller.

    `code`: a stable word for programs. `layer`: see the module's head. `offset`: bytes from the start of
    the stream, or None where no single byte is to blame.
    """

    layer: str = "structure"

    def __init__(
        self, message: str, *, code: str, layer: str | None = None, offset: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        if layer is not None:
            self.layer = layer
        self.offset = offset

    @property
    def message(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.__dict__.copy()))


def _rebuild(cls: type[TrigateError], message: str, members: dict[str, object]) -> TrigateError:
    error = cls.__new__(cls, message)
    error.args = (message,)
    error.__dict__.update(members)
    return error


class TransportError(TrigateError):
    """The input ended before the protocol's own end."""

    layer = "transport"


class DecodeError(TrigateError, ValueError):
    """Bytes that are not what the format allows: ill-formed UTF-8, broken JSON."""

    layer = "decode"


class StructureError(TrigateError):
    """Well-formed data that contradicts itself or lacks what its protocol demands."""

    layer = "structure"


class LimitError(TrigateError):
    """A bound of `Limits` was passed; `limit` is its name there, None for plain lack of memory."""

    layer = "limit"

    def __init__(
        self, message: str, *, code: str, limit: str | None = None, offset: int | None = None
    ) -> None:
        super().__init__(message, code=code, offset=offset)
        self.limit = limit


class ProviderError(TrigateError):
    """The provider reported a failure; `type` and `code` are its own words. `http_status`: where HTTP told it."""

    layer = "provider"

    def __init__(
        self,
        message: str,
        *,
        code: str,
        type: str | None = None,  # noqa: A002 - the provider's own word
        offset: int | None = None,
        http_status: int | None = None,
    ) -> None:
        super().__init__(message, code=code, offset=offset)
        self.type = type
        self.http_status = http_status


class ModelError(TrigateError):
    """What the model asked for does not fit: to be told to the model, in words it can act on."""

    layer = "model"


class IncompleteError(TrigateError):
    """The provider ended the response early: token limit, content filter, pause."""

    layer = "provider"


class AuthorizationError(TrigateError):
    """What was asked for is not permitted, however it is spelled."""

    layer = "authorization"


class EnvironmentStateError(TrigateError):
    """The world is not as the call expects it: not found, changed meanwhile, a tool that failed."""

    layer = "environment"


class UnknownOutcomeError(TrigateError):
    """A side effect may or may not have happened. It is never run again by itself: look first."""

    layer = "unknown_outcome"
