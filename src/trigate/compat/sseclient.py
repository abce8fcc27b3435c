"""The face of sseclient-py: SSEClient(event_source).events(), close(), and Event.

Rules
 - Names and signatures are those of sseclient-py 1.9.0; the events are those of the WHATWG standard.
   docs/compat/sseclient.md lists where the two differ.
 - The event source is anything that gives chunks of bytes when iterated: a response of requests with stream=True, a
   HTTPResponse of urllib3 or http.client, a binary file.
 - What the end of the source left unfinished is no event: `SSEClient.leftover` tells of it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import trigate
from trigate.compat.reading import Reading

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Event", "SSEClient"]


class Event:
    """One event. id: the last event ID, None if none came yet. retry: the digits that its block set, or None."""

    def __init__(
        self,
        id: str | None = None,  # noqa: A002 - the standard's word
        event: str = "message",
        data: str = "",
        retry: str | None = None,
    ) -> None:
        self.id = id
        self.event = event
        self.data = data
        self.retry = retry

    def __str__(self) -> str:
        """For people: `greeting event #7, 5 bytes, retry in 500ms`."""
        size = f"{len(self.data)} bytes" if self.data else "no data"
        number = f" #{self.id}" if self.id else ""
        retry = f", retry in {self.retry}ms" if self.retry else ""
        return f"{self.event} event{number}, {size}{retry}"


class SSEClient(Reading):
    """The events of one source of bytes.

    event_source  gives chunks of bytes when iterated; close() is handed on to it
    char_enc      the encoding of the source; the standard knows UTF-8 alone

    See Reading for the rest.
    """

    def __init__(self, event_source: Iterable[Buffer], char_enc: str = "utf-8") -> None:
        self._event_source = event_source
        self._char_enc = char_enc
        self._decoder = trigate.SSEDecoder()

    def events(self) -> Iterator[Event]:
        """The events as they come. LimitError for one that is too large; errors of the source go through.

        Text in another encoding than UTF-8 must be well-formed, else UnicodeDecodeError; ill-formed UTF-8 is replaced
        by U+FFFD, as the standard says.
        """
        self._decoder = decoder = trigate.SSEDecoder()
        self.leftover = None
        for chunk in _in_utf8(self._event_source, self._char_enc):
            for event in decoder.feed(chunk):
                retry = None if event.retry is None else str(event.retry)
                yield Event(event.id or None, event.event, event.data, retry)
        self.leftover = decoder.finish()

    def close(self) -> None:
        """Closes the source."""
        source: Any = self._event_source
        source.close()


def _in_utf8(chunks: Iterable[Buffer], encoding: str) -> Iterable[Buffer]:
    if codecs.lookup(encoding).name == "utf-8":
        return chunks
    return _encoded_again(chunks, encoding)


def _encoded_again(chunks: Iterable[Buffer], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    for chunk in chunks:
        yield decoder.decode(bytes(chunk)).encode()
    yield decoder.decode(b"", final=True).encode()
