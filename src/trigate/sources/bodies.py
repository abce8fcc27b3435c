"""The bodies of HTTP responses, whichever client library received them.

Rules
 - A library is known by the module of its response's class; none is imported here.
 - Chunks are decompressed, are given as soon as they come, and nothing is read ahead.
 - `close` releases the connection: to its pool if the body was read to its end, else by closing it.
 - `interrupt` makes a read in another thread return. Closing a socket does not wake who waits for it; shutting it down
   does. A connection that other responses share (HTTP/2, HTTP/3) is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

__all__ = ["Body", "body_of", "library_of", "socket_of"]


class Body(Protocol):
    """A response of a blocking client library. status, headers: as HTTP told them, names found in lower case."""

    status: int
    headers: Mapping[str, str]

    def read(self) -> bytes:
        """The next chunk, b"" at the end."""

    def interrupt(self) -> None:
        """From any thread: a read that waits returns or raises."""

    def close(self) -> None: ...


#: Whose response classes are known, and their names.
_KNOWN = {
    "httpx": ("Response",),
    "httpx2": ("Response",),
    "requests": ("Response",),
    "niquests": ("Response",),
    "urllib3": ("BaseHTTPResponse", "HTTPResponse"),
    "urllib3_future": ("BaseHTTPResponse", "HTTPResponse"),
    "aiohttp": ("ClientResponse",),
}


def library_of(source: object) -> tuple[str, bool] | None:
    """The library of a response, and whether it is an asynchronous one; None for what is no response."""
    for cls in type(source).__mro__:
        root = cls.__module__.partition(".")[0]
        if cls.__name__ in _KNOWN.get(root, ()):
            return root, _is_asynchronous(root, source)
    return None


def _is_asynchronous(library: str, source: Any) -> bool:
    if library in ("httpx", "httpx2"):
        stream = getattr(source, "stream", None)
        return hasattr(stream, "__aiter__") and not hasattr(stream, "__iter__")
    return library == "aiohttp" or any(cls.__name__.startswith("Async") for cls in type(source).__mro__)


def body_of(response: Any, library: str) -> Body:
    """The body of a blocking library's response."""
    return HttpxBody(response) if library in ("httpx", "httpx2") else RawBody(response)


class HttpxBody:
    """httpx and httpx2."""

    def __init__(self, response: Any) -> None:
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._chunks: Iterator[bytes] = response.iter_bytes()

    def read(self) -> bytes:
        for chunk in self._chunks:
            if chunk:
                return chunk
        return b""

    def interrupt(self) -> None:
        if not self._response.is_closed:  # else the connection is back in the pool, and may be another's
            shut_down(socket_of(self._response))

    def close(self) -> None:
        self._response.close()


def socket_of(response: Any) -> Any:
    """The socket under a response of httpx that has it for itself; None if there is none."""
    stream = response.extensions.get("network_stream")
    if stream is None or response.extensions.get("http_version") in (b"HTTP/2", b"HTTP/3"):
        return None
    return stream.get_extra_info("socket")


class RawBody:
    """urllib3, and requests and niquests, which build on it. Their own iterators wait until a chunk is full."""

    def __init__(self, response: Any) -> None:
        raw = getattr(response, "raw", None)
        self._response = response
        self._raw = response if raw is None else raw
        self.status: int = response.status if raw is None else response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._read_before = read_before(response, self._raw)

    def read(self) -> bytes:
        if self._read_before is not None:
            chunk, self._read_before = self._read_before, b""
            return chunk
        while True:
            chunk = self._raw.read1(decode_content=True)
            # Compressed bytes may have come that are no text yet.
            if chunk or is_over(self._raw):
                return bytes(chunk)

    def interrupt(self) -> None:
        if getattr(self._raw, "version", None) in (20, 30):
            return
        shut_down(_socket_under(getattr(self._raw, "_fp", None)))

    def close(self) -> None:
        self._response.close()


def _socket_under(low: Any) -> Any:
    """The socket of http.client's response, or of what urllib3-future has in its place; None once it is read."""
    if hasattr(low, "_sock"):
        return low._sock  # its `fp` would be made on being asked for, and keep the socket open
    return getattr(getattr(getattr(low, "fp", None), "raw", None), "_sock", None)


def read_before(response: Any, raw: Any) -> bytes | None:
    """The body if the library has read it as a whole already."""
    for holder, name in ((response, "_content"), (raw, "_body")):
        content = getattr(holder, name, None)
        if isinstance(content, bytes):
            return content
    return None


def is_over(raw: Any) -> bool:
    """Whether urllib3 has nothing more to read."""
    under = getattr(raw, "_fp", None)
    is_closed = getattr(under, "isclosed", None)
    return is_closed is None or bool(is_closed())


def shut_down(connection: Any) -> None:
    """Both directions; what TLS has wrapped around it must not get ready to say goodbye."""
    if connection is None:
        return
    import socket

    try:
        if isinstance(connection, socket.socket):
            socket.socket.shutdown(connection, socket.SHUT_RDWR)
        else:
            connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it is gone already
