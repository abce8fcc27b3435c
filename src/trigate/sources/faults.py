"""What a client library raises while it reads: the connection's fault, or the caller's?

Rules
 - Libraries are known by the module of an exception's class: none is imported here.
 - What is wrong use (a body that was read already) goes on to the caller.
"""

from __future__ import annotations

from trigate.response import ErrorInfo

__all__ = ["fault_of"]

_LIBRARIES = (
    *(
        "httpx",
        "httpx2",
        "httpcore",
        "httpcore2",
        "aiohttp",
        "requests",
        "niquests",
        "urllib3",
        "urllib3_future",
    ),
    *("h11", "h2", "http", "anyio", "zlib", "zstandard", "brotli"),
)


def fault_of(error: BaseException) -> ErrorInfo | None:
    """The error of a response whose connection broke with this exception; None if it is not the connection's."""
    if not _is_transport(error):
        return None
    name = type(error).__name__
    told = f"{name}: {error}" if str(error) else name
    if isinstance(error, TimeoutError) or "Timeout" in name:
        message = f"the client library's own timeout passed: {told}"
        return ErrorInfo("transport", "timeout", "read_timeout", message, cause=error)
    if "Decod" in name or "ContentEncoding" in name:
        message = f"the compressed body is broken: {told}"
        return ErrorInfo("transport", "transport", "broken_compression", message, cause=error)
    message = f"the connection broke: {told}"
    return ErrorInfo("transport", "transport", "connection_lost", message, cause=error)


def _is_transport(error: BaseException) -> bool:
    if isinstance(error, (RuntimeError, TypeError)):
        return False
    if isinstance(error, (OSError, EOFError)):
        return True
    return any(cls.__module__.partition(".")[0] in _LIBRARIES for cls in type(error).__mro__)
