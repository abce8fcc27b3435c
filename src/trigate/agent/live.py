"""A model behind HTTP, asked over httpx2.

Rules
 - One request a question, and no other try: a request costs money.
 - The key goes into a header and nowhere else: no record, no message, no repr holds it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from trigate.agent.dialects import Dialect
from trigate.agent.model import Reply
from trigate.parser import ResponseParser

if TYPE_CHECKING:
    import httpx2

__all__ = ["LiveModel"]

_MAX_BODY = 64 * 1024 * 1024
#: What a status means, as a word of its own; others are "http_error".
_FAILURES = {
    400: "bad_request",
    401: "unauthorized",
    402: "payment_required",
    403: "forbidden",
    404: "not_found",
    408: "timeout",
    413: "request_too_large",
    429: "rate_limited",
    529: "overloaded",
}


class LiveModel:
    """A model of one API.

    name      as the API knows it
    dialect   one of trigate.agent.DIALECTS
    key       None for servers that want none
    base_url  "" for the provider's own; for another server, up to the part before the dialect's path ("/v1")
    client    an httpx2.AsyncClient that is used and not closed; None to make one for each request
    """

    def __init__(
        self,
        name: str,
        dialect: Dialect,
        *,
        key: str | None = None,
        base_url: str = "",
        client: httpx2.AsyncClient | None = None,
    ) -> None:
        self._name = name
        self._dialect = dialect
        self._key = key
        self._url = (base_url or dialect.base_url).rstrip("/") + dialect.path
        self._client = client

    @property
    def name(self) -> str:
        return self._name

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    def __repr__(self) -> str:
        return f"<LiveModel {self._name} at {self._url}>"

    async def ask(self, body: dict[str, Any], seconds: float) -> Reply:
        httpx = _httpx2()
        answer = _Answer(self._dialect.protocol)
        try:
            async with asyncio.timeout(seconds):
                if self._client is not None:
                    await self._read(self._client, body, answer)
                else:
                    async with httpx.AsyncClient(timeout=httpx.Timeout(seconds)) as client:
                        await self._read(client, body, answer)
        except TimeoutError:
            answer.fail("timeout", f"the answer was not whole after {seconds:g} s")
        except httpx.TimeoutException as error:
            answer.fail("timeout", f"the server did not answer in time ({type(error).__name__})")
        except httpx.ConnectError:
            answer.fail("connection", f"the server cannot be reached: {self._url}")
        except httpx.TransportError as error:
            answer.fail("connection", f"the connection broke ({type(error).__name__})")
        return answer.reply()

    async def _read(self, client: httpx2.AsyncClient, body: dict[str, Any], answer: _Answer) -> None:
        headers = self._dialect.headers(self._key)
        async with client.stream("POST", self._url, json=body, headers=headers) as got:
            answer.http_status = got.status_code
            async for chunk in got.aiter_bytes():
                if not answer.take(chunk):
                    answer.fail("too_large", f"the answer has more than {_MAX_BODY} bytes")
                    return


class _Answer:
    """One answer while it comes."""

    def __init__(self, protocol: str) -> None:
        self._parser = ResponseParser(protocol, deltas=False)
        self._stream = bytearray()
        self._failure = self._message = ""
        self.http_status: int | None = None

    def take(self, chunk: bytes) -> bool:
        self._parser.feed(chunk)
        self._stream += chunk
        return len(self._stream) <= _MAX_BODY

    def fail(self, failure: str, message: str) -> None:
        self._failure, self._message = failure, message

    def reply(self) -> Reply:
        response = self._parser.finish()
        if not self._failure and self.http_status is not None and self.http_status >= 400:
            self._failure = _FAILURES.get(self.http_status, "http_error")
            told = response.error.message if response.error is not None else "no reason was given"
            self._message = f"the server answered {self.http_status}: {told}"
        return Reply(
            response=response,
            stream=bytes(self._stream),
            http_status=self.http_status,
            failure=self._failure,
            message=self._message,
        )


def _httpx2() -> Any:
    try:
        import httpx2
    except ImportError as error:
        raise ImportError("a live model is asked over httpx2: pip install 'trigate[httpx]'") from error
    return httpx2
