"""The MCP SDK's client, reading its event streams with trigate: an EventSource, and patch() that puts it in.

Rules
 - The client's own reader is httpx2's EventSource; this one has what the client uses of it: `response`, asynchronous
   iteration, SSEError, a bound for an event.
 - An id or a retry field in a block without data makes no event, says the standard, but it counts: the client learns it
   by an empty message, which it passes over as a keep-alive. An id is told with the chunk, a time when it is needed: at
   the end of the body, for it may belong to a block that has not ended.
 - mcp and httpx2 are imported by the first patch and by the first error, and by nothing else here.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

import trigate
from trigate.compat.media_type import is_event_stream
from trigate.compat.patching import Patch, Stack
from trigate.compat.shadow import shadow as shadowed
from trigate.errors import LimitError

if TYPE_CHECKING:
    from trigate.compat.shadow import Report
    from trigate.leftover import Leftover

__all__ = ["EventSource", "Reader", "patch", "unpatch"]

_MOST = 1024 * 1024
#: Where a response says that its client is patched, and how.
_MARK = "trigate.compat.mcp"
_WITHIN = "sse_within_origin"


class Reader:
    """The events of one body: those of the standard, and what blocks without data said.

    max_event_bytes: the bound of an event's data and type, and of its id; None for as much as there is memory
    """

    def __init__(self, max_event_bytes: int | None = _MOST) -> None:
        # Half of what is possible, for a line's own bound is a little above it.
        most = sys.maxsize // 2 if max_event_bytes is None else max_event_bytes
        self._decoder = trigate.SSEDecoder(limits=trigate.Limits(max_event_bytes=most, max_id_bytes=most))
        self._id = ""
        self._retry: int | None = None

    @property
    def error(self) -> Exception | None:
        return self._decoder.error

    def feed(self, chunk: bytes) -> list[trigate.ServerSentEvent]:
        """The events that end in these bytes; behind them an empty message, if a later block changed the id.

        What cannot be read is told by `error`.
        """
        try:
            events = self._decoder.feed(chunk)
        except LimitError:
            return []
        for event in events:
            self._id = event.id
            if event.retry is not None:
                self._retry = event.retry
        if self._decoder.last_event_id != self._id:
            events.append(self._message())
        return events

    def rest(self) -> list[trigate.ServerSentEvent]:
        """An empty message with the reconnection time, if no event told it: to be read before connecting again."""
        return [] if self._decoder.reconnection_time == self._retry else [self._message()]

    def _message(self) -> trigate.ServerSentEvent:
        retry = self._decoder.reconnection_time
        told = retry if retry != self._retry else None
        self._id, self._retry = self._decoder.last_event_id, retry
        return trigate.ServerSentEvent(id=self._id, retry=told)

    def finish(self) -> Leftover:
        return self._decoder.finish()


class EventSource:
    """The events of a response to the MCP client. httpx2.SSEError: no event stream, or an event above the bound.

    max_event_size: as httpx2's; it counts the data and the type of an event, and apart from them its id, but not the
    names of fields
    """

    def __init__(self, response: Any, max_event_size: int | None = _MOST) -> None:
        self._response = response
        self._max_event_size = max_event_size

    @property
    def response(self) -> Any:
        return self._response

    async def __aiter__(self) -> AsyncIterator[trigate.ServerSentEvent]:
        if not is_event_stream(_content_type(self._response)):
            raise self._error(
                f"expected the content type text/event-stream, found {_content_type(self._response)!r}"
            )
        reader = Reader(self._max_event_size)
        try:
            async for chunk in self._response.aiter_bytes():
                for event in reader.feed(chunk):
                    yield event
                if reader.error is not None:
                    raise self._error(reader.error)
        except Exception:
            for event in reader.rest():
                yield event
            raise
        for event in reader.rest():
            yield event

    def _error(self, what: Exception | str) -> Exception:
        httpx2 = importlib.import_module("httpx2")  # its response is at hand: it is there
        cause = what if isinstance(what, Exception) else None
        if isinstance(what, LimitError):
            what = f"a server-sent event is longer than {self._max_event_size} bytes: {what}"
        error: Exception = httpx2.SSEError(str(what), request=self._response.request)
        error.__cause__ = cause
        return error


def patch(client: Any = None, *, shadow: Report | None = None) -> Patch:
    """Puts trigate's reader into the MCP client; as a context manager, until the end of the block.

    client  the httpx2.AsyncClient that is handed to streamable_http_client(http_client=...), or that the factory of
            sse_client gives: what is read over that client. None: every MCP client of the process
    shadow  called with each Difference: then httpx2's reader goes on giving the events, and trigate's reads the same
            bytes beside it

    TypeError: no httpx2.AsyncClient. RuntimeError: this version of mcp has no such reader. ImportError: no mcp.
    """

    def make(original: Callable[[], Any], response: Any, max_event_size: int | None) -> Any:
        if shadow is None:
            return EventSource(response, max_event_size)
        return _Shadowed(original(), Reader(max_event_size), shadow)

    return _stack_of(client).push(make)


def unpatch(client: Any = None) -> None:
    """Takes out the latest patch of the client, or of the process; RuntimeError if there is none."""
    if not _stack_of(client).pop():
        raise RuntimeError(f"unpatch(): {'mcp is' if client is None else 'this client is'} not patched")


class _Shadowed:
    """httpx2's reader, with another beside it."""

    def __init__(self, original: Any, ours: Reader, report: Report) -> None:
        self.response = original.response
        self._original = original
        self._ours = ours
        self._report = report

    async def __aiter__(self) -> AsyncIterator[Any]:
        response = self.response
        if not is_event_stream(_content_type(response)):  # which the original refuses, and so would ours
            async for event in self._original:
                yield event
            return

        def read(chunks: AsyncIterator[bytes]) -> AsyncIterator[Any]:
            response.aiter_bytes = lambda: chunks  # from which the original's aiter_text() takes them
            return aiter(self._original)

        beside = shadowed(read, self._ours, report=self._report)
        async with aclosing(beside.aiter_bytes(response.aiter_bytes())) as events:
            try:
                async for event in events:
                    yield event
            finally:
                vars(response).pop("aiter_bytes", None)


class _Names:
    """The names by which mcp's client makes its reader, held while any patch is in."""

    def __init__(self) -> None:
        self.process = Stack(self.hold, self.let_go)
        self._holders = 0
        self._originals: dict[tuple[Any, str], Any] = {}
        self._ours: dict[tuple[Any, str], Any] = {}

    def hold(self) -> None:
        if not self._holders:
            transport, legacy = self._find()
            self._take(transport, "EventSource", self._source)
            self._take(transport, _WITHIN, self._within)
            self._take(legacy, _WITHIN, self._within)
        self._holders += 1

    def let_go(self) -> None:
        self._holders -= 1
        if not self._holders:
            for (module, name), original in self._originals.items():
                if getattr(module, name) is self._ours[module, name]:
                    setattr(module, name, original)

    def _find(self) -> tuple[Any, Any]:
        try:
            transport = importlib.import_module("mcp.client.streamable_http")
            legacy = importlib.import_module("mcp.client.sse")
        except ImportError as error:
            raise ImportError("trigate.compat.mcp needs mcp: pip install mcp") from error
        for module, name in ((transport, "EventSource"), (transport, _WITHIN), (legacy, _WITHIN)):
            if not hasattr(module, name):
                raise RuntimeError(
                    f"mcp {importlib.metadata.version('mcp')} has no {module.__name__}.{name}, which is where its"
                    " client makes its reader: nothing was patched"
                )
        return transport, legacy

    def _take(self, module: Any, name: str, ours: Callable[[Any], Any]) -> None:
        found = getattr(module, name)
        if found is not self._ours.get((module, name)):
            self._originals[module, name] = found
            self._ours[module, name] = ours(found)
            setattr(module, name, self._ours[module, name])

    def _source(self, original: Any) -> Any:
        def event_source(response: Any, max_event_size: int | None = _MOST) -> Any:
            return self._make(functools.partial(original, response, max_event_size), response, max_event_size)

        return event_source

    def _within(self, original: Any) -> Any:
        @asynccontextmanager
        async def sse_within_origin(*args: Any, **options: Any) -> AsyncIterator[Any]:
            async with original(*args, **options) as source:
                yield self._make(lambda: source, source.response, options.get("max_event_size", _MOST))

        return functools.wraps(original)(sse_within_origin)

    def _make(self, original: Callable[[], Any], response: Any, max_event_size: int | None) -> Any:
        stack = response.extensions.get(_MARK)
        top = (stack.top if stack is not None else None) or self.process.top
        return original() if top is None else top.make(original, response, max_event_size)


class _Mark:
    """The patches of one httpx2 client, as a response hook of it: its responses carry them."""

    def __init__(self, names: _Names, client: Any) -> None:
        self.stack = Stack(self._put_in, self._take_out)
        self._names = names
        self._client = client

    async def __call__(self, response: Any) -> None:
        response.extensions[_MARK] = self.stack

    def _put_in(self) -> None:
        self._names.hold()
        self._client.event_hooks["response"].append(self)

    def _take_out(self) -> None:
        hooks = self._client.event_hooks["response"]
        if self in hooks:
            hooks.remove(self)
        self._names.let_go()


_NAMES = _Names()


def _content_type(response: Any) -> str:
    return str(response.headers.get("content-type", ""))


def _stack_of(client: Any) -> Stack:
    """The patches of a client, or of the process."""
    if client is None:
        return _NAMES.process
    try:
        httpx2 = importlib.import_module("httpx2")
    except ImportError as error:
        raise ImportError("trigate.compat.mcp needs mcp 2 and its httpx2: pip install mcp") from error
    if not isinstance(client, httpx2.AsyncClient):
        raise TypeError(f"patch() takes an httpx2.AsyncClient, not {type(client).__qualname__}")
    for hook in client.event_hooks["response"]:
        if isinstance(hook, _Mark):
            return hook.stack
    return _Mark(_NAMES, client).stack
