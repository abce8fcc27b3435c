"""A model behind HTTP, asked over httpx2.

Rules
 - One request a question, and no other try: a request costs money. No redirect is followed: it would be a second
   request, and might carry the key to another server.
 - The key goes into a header and nowhere else: no record, no message, no repr holds it, also not where a server
   sends it back.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trigate.agent.dialects import Dialect
from trigate.agent.model import Reply
from trigate.parser import ResponseParser
from trigate.sources import parse

if TYPE_CHECKING:
    import httpx2

__all__ = ["FAILURES", "LiveModel"]

_MAX_BODY = 64 * 1024 * 1024
_LEAST_SECRET = 8  # characters: what is shorter ("none") is no secret, and may be a word of the answer
#: What a status means, as a word of its own; others are "http_error".
FAILURES = {
    301: "redirected",
    302: "redirected",
    303: "redirected",
    307: "redirected",
    308: "redirected",
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

    ValueError for a key or a URL that cannot be sent, or a URL that holds credentials; TypeError for what is no
    Dialect; ImportError without httpx2.
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
        if not isinstance(dialect, Dialect):
            raise TypeError(
                f"dialect must be one of trigate.agent.DIALECTS, as DIALECTS['openai-chat'], not {dialect!r}"
            )
        self._httpx = _httpx2()
        self._name = name
        self._dialect = dialect
        self._key = _checked_key(key)
        self._url = _checked_url(base_url or dialect.base_url, dialect.path) + dialect.path
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
        httpx = self._httpx
        answer = _Answer(self._dialect.protocol, self._url)
        try:
            async with asyncio.timeout(seconds):
                if self._client is not None:
                    await self._read(self._client, body, answer, seconds)
                else:
                    async with httpx.AsyncClient() as client:
                        await self._read(client, body, answer, seconds)
        except TimeoutError:
            answer.fail("timeout", f"the answer was not whole after {seconds:g} s")
        except httpx.TimeoutException as error:
            answer.fail("timeout", f"the server did not answer in time ({type(error).__name__})")
        except httpx.ConnectError:
            answer.fail("connection", f"the server cannot be reached: {self._url}")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # Its own text may quote headers or the URL.
            answer.fail("connection", f"the connection broke ({type(error).__name__})")
        return answer.reply(self._key)

    async def _read(
        self, client: httpx2.AsyncClient, body: dict[str, Any], answer: _Answer, seconds: float
    ) -> None:
        headers = {"content-type": "application/json", **self._dialect.headers(self._key)}
        request = client.stream(
            "POST",
            self._url,
            content=json.dumps(body).encode("ascii"),
            headers=headers,
            timeout=self._httpx.Timeout(seconds),
            follow_redirects=False,
        )
        async with request as got:
            answer.http_status = got.status_code
            async for chunk in got.aiter_bytes():
                if not answer.take(chunk):
                    answer.fail("too_large", f"the answer has more than {_MAX_BODY} bytes")
                    return


class _Answer:
    """One answer while it comes."""

    def __init__(self, protocol: str, url: str) -> None:
        self._protocol = protocol
        self._url = url
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

    def reply(self, key: str | None) -> Reply:
        response, stream = self._parser.finish(), bytes(self._stream)
        secret = (key or "").encode("ascii")
        if len(secret) >= _LEAST_SECRET and secret in stream:
            stream = stream.replace(secret, b"*" * len(secret))
            response = parse(stream, self._protocol, deltas=False)
        if not self._failure and self.http_status is not None and not 200 <= self.http_status < 300:
            self._failure = FAILURES.get(self.http_status, "http_error")
            told = response.error.message if response.error is not None else "no reason was given"
            # A base_url that lacks its /v1 shows here alone.
            asked = f" to {self._url}" if self.http_status == 404 else ""
            self._message = f"the server answered {self.http_status}{asked}: {told}"
        return Reply(
            response=response,
            stream=stream,
            http_status=self.http_status,
            failure=self._failure,
            message=self._message,
        )


def _checked_key(key: str | None) -> str | None:
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError(
            "the key has characters that no key has: look for a space, a line break or a typographic dash"
        )
    return key


def _checked_url(url: str, path: str) -> str:
    """The URL, if path may be put behind it. What is wrong with it is told without quoting it."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("base_url must be an http:// or https:// URL with a host")
    if "@" in parts.netloc:
        raise ValueError("base_url must hold no user name and no password: give a client that has them")
    if parts.query or parts.fragment:
        raise ValueError("base_url must have no ? and no #: the path of the API is put behind it")
    parts.port  # noqa: B018 - ValueError for one out of range
    url = url.rstrip("/")
    if url.endswith(path):
        raise ValueError(f"base_url must end before {path}: the path of the API is put behind it")
    return url


def _httpx2() -> Any:
    try:
        import httpx2
    except ImportError as error:
        raise ImportError("a live model is asked over httpx2: pip install 'trigate[httpx]'") from error
    return httpx2
