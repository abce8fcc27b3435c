"""Streams whose events are numbered, for tests that cut them and go on over another connection."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import anthropic_streams
import cohere_streams
import gemini_streams
import openai_chat_streams as chat
import trigate
from streams import Script, joined

__all__ = ["NUMBERED", "Numbered", "after", "blocks", "same", "started", "told"]

_EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "streams"


def blocks(data: bytes) -> list[bytes]:
    """The events of a stream, each with its blank line."""
    return [data[event.start : event.end] for event in trigate.SSEDecoder().feed(data)]


def after(events: list[bytes], point: trigate.ResumePoint) -> bytes:
    """What a server sends that was asked to go on from there."""
    return b"".join(event for event in events if not _is_up_to(event, events, point))


def _is_up_to(event: bytes, events: list[bytes], point: trigate.ResumePoint) -> bool:
    if point.sequence_number is not None:
        number = json.loads(event.partition(b"data:")[2])["sequence_number"]
        return bool(number <= point.sequence_number)
    assert point.last_event_id is not None
    last = next(at for at, told in enumerate(events) if _holds(told, point.last_event_id))
    return events.index(event) <= last


def _holds(event: bytes, event_id: str) -> bool:
    return f"id: {event_id}\n".encode() in event or f'"event_id":"{event_id}"'.encode() in event


def with_ids(data: bytes) -> bytes:
    """Each event gets an id, but for the sentinel."""
    events = blocks(data)
    return b"".join(
        event if b"[DONE]" in event else f"id: n{at}\n".encode() + event for at, event in enumerate(events)
    )


def _responses() -> bytes:
    script = (
        Script()
        .created()
        .message("Größe ", "und ", "🌍")
        .call('{"städte":["北京"]}', pieces=['{"städte', '":["北', '京"]}'], index=1)
    )
    return script.call("{}", index=2, call_id="call_2", item_id="fc_2").end().data()


def _interactions() -> bytes:
    told = [
        *gemini_streams.text_step(0, "Guten ", "Tag ", "auch"),
        *gemini_streams.function_step(1, '{"a"', ": 1", "}"),
    ]
    begun = [gemini_streams.CREATED, *told, gemini_streams.completed()]
    numbered = [(kind, members | {"event_id": f"e{at}"}) for at, (kind, members) in enumerate(begun)]
    return gemini_streams.events(*numbered)


def _chat() -> bytes:
    say = [chat.text(piece) for piece in ("Guten ", "Tag ", "auch")]
    opened = chat.tools(chat.piece('{"a"', "go", index=0, id="call_1", type="function"))
    more = [chat.tools(chat.piece(piece, index=0)) for piece in (": 1", "}")]
    return chat.wire(*say, opened, *more, chat.finish(), chat.DONE)


def _messages() -> bytes:
    script = anthropic_streams.Script.begun().text(0, "Guten ", "Tag ", "auch")
    return script.call(1, '{"a"', ": 1", "}").end().data()


def _cohere() -> bytes:
    return (
        cohere_streams.Script.begun().plan("Ich ", "schaue ", "nach").call(0, '{"a"', ": 1", "}").end().data()
    )


def _gemini() -> bytes:
    say = [gemini_streams.chunk({"text": piece}) for piece in ("Guten ", "Tag ", "auch")]
    return gemini_streams.sse([*say, gemini_streams.stop(gemini_streams.call("go", {"a": 1}))], eol="\n")


class Numbered:
    """One stream: its protocol and its bytes."""

    def __init__(self, protocol: str, make: Callable[[], bytes]) -> None:
        self.protocol = protocol
        self.data = make()
        self.events = blocks(self.data)
        self.whole = trigate.parse(self.data, protocol)

    def begin_with(
        self, count: int, *, more: bytes = b""
    ) -> tuple[trigate.ResponseParser, list[trigate.Item]]:
        """A parser that has taken so many events, and `more` bytes of the next one."""
        parser = trigate.ResponseParser(self.protocol)
        return parser, parser.feed(b"".join(self.events[:count]) + more)


def _file(name: str) -> Callable[[], bytes]:
    return (_EXAMPLES / name).read_bytes


NUMBERED: dict[str, Numbered] = {
    "responses": Numbered("openai-responses", _responses),
    "responses, two calls": Numbered("openai-responses", _file("parallel-calls.sse")),
    "responses, failed": Numbered("openai-responses", _file("failed.sse")),
    "responses, incomplete": Numbered("openai-responses", _file("incomplete.sse")),
    "responses, found out": Numbered("auto", _responses),
    "interactions": Numbered("gemini-interactions", _interactions),
    "chat with ids": Numbered("openai-chat", lambda: with_ids(_chat())),
    "messages with ids": Numbered("anthropic-messages", lambda: with_ids(_messages())),
    "cohere with ids": Numbered("cohere-chat", lambda: with_ids(_cohere())),
    "gemini with ids": Numbered("gemini", lambda: with_ids(_gemini())),
    "chat with ids, found out": Numbered("auto", lambda: with_ids(_chat())),
}


def same(response: trigate.Response, whole: trigate.Response) -> bool:
    """Whether the two are one, but for where and over how many connections it came."""
    return _bare(response) == _bare(whole)


def _bare(response: trigate.Response) -> tuple[trigate.Response, Any]:
    decisions = [(decision.rule, decision.detail) for decision in response.decisions]
    error = response.error and replace(response.error, offset=None, message="", raw=None)
    return replace(response, anomalies=(), decisions=(), error=error), decisions


def started(items: Iterable[trigate.Item]) -> list[Any]:
    return [item.call.wire_key for item in items if isinstance(item, trigate.ToolCallStarted)]


def told(items: Iterable[trigate.Item]) -> Iterator[tuple[Any, ...]]:
    """What the items show, without what an end in between told of calls that it cut."""
    ends = (trigate.ResponseEnded, trigate.ToolCallDone, trigate.UsageUpdate)
    return iter(joined(item for item in items if not isinstance(item, ends)))
