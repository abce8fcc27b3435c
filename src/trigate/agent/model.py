"""What the agent asks of a model: one request's body in, one response out.

Rule: a model never raises for what came over the wire or did not come; that is in the Reply. It never asks twice.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from trigate.agent.dialects import Dialect
from trigate.response import Response

__all__ = ["Model", "Reply"]


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one request.

    response     read from the stream, as far as it came
    stream       its bytes, for the record
    http_status  None where there was no answer at all
    failure      why there is no good response, as a word: "unauthorized", "rate_limited", "connection" ...; else ""
    message      the same as a sentence
    """

    response: Response
    stream: bytes = b""
    http_status: int | None = None
    failure: str = ""
    message: str = ""


class Model(Protocol):
    """A model behind one API. dialect: how that API is spoken to. name: the model's, as the API knows it."""

    @property
    def dialect(self) -> Dialect: ...

    @property
    def name(self) -> str: ...

    async def ask(self, body: dict[str, Any], seconds: float) -> Reply:
        """Sends one request and reads its answer, for so many seconds at most."""
        ...
