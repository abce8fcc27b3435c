"""Which headers go on to the other side.

Rules
 - Those of one connection stay here: the known ones, and each that `Connection` names (RFC 9110, section 7.6.1).
 - What goes on keeps its order, and its number: two `Set-Cookie` stay two.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["of_request", "of_response"]

_OF_ONE_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
# The gateway's own client sets these, and has already let the body come.
_SET_BY_CLIENT = frozenset({"accept-encoding", "content-length", "expect", "host"})
# The gateway's own server sets these.
_SET_BY_SERVER = frozenset({"date", "server"})
# What aiohttp decodes; a body in any other encoding goes through as it is, and so does the header that names it.
_DECODED = frozenset({"gzip", "deflate", "br", "zstd"})


def of_request(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """What of the client's headers the upstream gets."""
    return _without(list(headers), _SET_BY_CLIENT)


def of_response(raw: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What of the upstream's headers the client gets, as ASGI has them."""
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]
    encodings = {value.lower() for name, value in headers if name.lower() == "content-encoding"}
    changed = {"content-encoding", "content-length"} if encodings & _DECODED else set()
    kept = _without(headers, _SET_BY_SERVER | changed)
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in kept]


def _without(headers: list[tuple[str, str]], names: frozenset[str]) -> list[tuple[str, str]]:
    named = {
        word.strip().lower()
        for name, value in headers
        if name.lower() == "connection"
        for word in value.split(",")
    }
    dropped = _OF_ONE_CONNECTION | names | named
    return [(name, value) for name, value in headers if name.lower() not in dropped]
