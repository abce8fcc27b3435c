"""Responses streams for the tests: events in, bytes out; ways to cut them; ways to compare what came of them.

Rules
 - A Script numbers its events itself, so that a test says only what is special about its stream.
 - Nothing here knows how trigate works inside: items and responses are compared by their public members.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import trigate

Event: TypeAlias = dict[str, Any]
Chunks: TypeAlias = list[bytes]

PROTOCOL = "openai-responses"

__all__ = [
    "PROTOCOL",
    "Chunks",
    "Event",
    "Framing",
    "Script",
    "bytewise",
    "codes",
    "every_two_cut",
    "function_item",
    "joined",
    "message_item",
    "of_size",
    "run",
    "seeded_cuts",
    "typical_cuts",
    "verdict",
    "wire",
]


# -- bytes of events ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Framing:
    """How events are written: the line end, `event:` lines, what stands between events, ASCII-only JSON."""

    eol: bytes = b"\n"
    names: bool = True
    between: bytes = b""
    escaped: bool = False
    bom: bool = False
    space: bool = True
    end: bytes = b""

    def one(self, event: Event) -> bytes:
        data = json.dumps(event, ensure_ascii=self.escaped, separators=(",", ":"))
        lines = [f"event: {event['type']}".encode()] if self.names and "type" in event else []
        lines.append((b"data: " if self.space else b"data:") + data.encode("utf-8", "strict"))
        return self.eol.join([*lines, b"", b""])


def wire(events: Iterable[Event], framing: Framing | None = None) -> bytes:
    """The events as one stream."""
    chosen = framing or Framing()
    start = b"\xef\xbb\xbf" if chosen.bom else b""
    return start + b"".join(chosen.between + chosen.one(event) for event in events) + chosen.end


# -- events of a turn --------------------------------------------------------------------------------


def function_item(arguments: Any, *, call_id: Any = "call_1", name: Any = "go", **members: Any) -> Event:
    """A whole function_call item; members set to ... are left out."""
    item: Event = {
        "id": "fc_1",
        "type": "function_call",
        "status": "completed",
        "call_id": call_id,
        "name": name,
    }
    item |= {"arguments": arguments} | members
    return {key: value for key, value in item.items() if value is not ...}


def message_item(*texts: str, item_id: str = "msg_1", **members: Any) -> Event:
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    item = {"id": item_id, "type": "message", "status": "completed", "role": "assistant", "content": content}
    return item | members


@dataclass
class Script:
    """The events of one turn. Each gets the next sequence number, unless it brings its own."""

    events: list[Event] = field(default_factory=list)
    output: dict[int, Event] = field(default_factory=dict)
    next_number: int = 0
    numbered: bool = True

    def add(self, kind: str, **members: Any) -> Script:
        event: Event = {"type": kind}
        if self.numbered and "sequence_number" not in members:
            event["sequence_number"] = self.next_number
            self.next_number += 1
        self.events.append(event | members)
        return self

    def skip(self, count: int = 1) -> Script:
        """Leaves sequence numbers out, as if events were lost here."""
        self.next_number += count
        return self

    def created(self, **members: Any) -> Script:
        response = {"id": "resp_1", "status": "in_progress", "model": "m", "output": []} | members
        return self.add("response.created", response=response)

    def added(self, index: int, item: Event) -> Script:
        return self.add("response.output_item.added", output_index=index, item=item)

    def delta(self, index: int, piece: Any, *, item_id: str | None = "fc_1", **members: Any) -> Script:
        kind = "response.function_call_arguments.delta"
        return self.add(kind, item_id=item_id, output_index=index, delta=piece, **members)

    def closed(self, index: int, text: Any, *, item_id: str | None = "fc_1", **members: Any) -> Script:
        kind = "response.function_call_arguments.done"
        return self.add(kind, item_id=item_id, output_index=index, arguments=text, **members)

    def done(self, index: int, item: Event) -> Script:
        self.output[index] = item
        return self.add("response.output_item.done", output_index=index, item=item)

    def call(
        self,
        arguments: str,
        *,
        index: int = 0,
        pieces: list[str] | None = None,
        call_id: str | None = "call_1",
        item_id: str = "fc_1",
        **members: Any,
    ) -> Script:
        """A whole function call: added, deltas, arguments.done, item.done."""
        item = function_item(arguments, call_id=call_id, id=item_id, **members)
        self.added(index, item | {"arguments": "", "status": "in_progress"})
        for piece in [arguments] if pieces is None else pieces:
            self.delta(index, piece, item_id=item_id)
        return self.closed(index, arguments, item_id=item_id).done(index, item)

    def message(self, *pieces: str, index: int = 0, item_id: str = "msg_1") -> Script:
        """A whole message with one text part."""
        text = "".join(pieces)
        place = {"item_id": item_id, "output_index": index, "content_index": 0}
        self.added(index, message_item(item_id=item_id, status="in_progress"))
        for piece in pieces:
            self.add("response.output_text.delta", **place, delta=piece)
        self.add("response.output_text.done", **place, text=text)
        return self.done(index, message_item(text, item_id=item_id))

    def whole(self, index: int, item: Event) -> Script:
        """An item that arrives at once: added, done."""
        return self.added(index, item | {"status": "in_progress"}).done(index, item)

    def end(self, kind: str = "response.completed", **members: Any) -> Script:
        """The terminal event; its list holds the items that were done, unless `output` is given."""
        status = kind.removeprefix("response.")
        output = [self.output[index] for index in sorted(self.output)]
        response = {"id": "resp_1", "status": status, "model": "m", "output": output} | members
        return self.add(kind, response={key: value for key, value in response.items() if value is not ...})

    def data(self, framing: Framing | None = None) -> bytes:
        return wire(self.events, framing)

    def parse(self, **options: Any) -> trigate.Response:
        return trigate.parse(self.data(), PROTOCOL, **options)


# -- cuts --------------------------------------------------------------------------------------------


def bytewise(data: bytes) -> Chunks:
    return of_size(data, 1)


def of_size(data: bytes, size: int) -> Chunks:
    return [data[at : at + size] for at in range(0, len(data), size)]


def every_two_cut(data: bytes) -> Iterator[Chunks]:
    return ([data[:at], data[at:]] for at in range(len(data) + 1))


def seeded_cuts(data: bytes, seed: int, count: int = 1) -> Iterator[Chunks]:
    """Random cuts, empty chunks among them, the same ones in each run."""
    source = random.Random(f"{seed} {len(data)}")
    for _ in range(count):
        places = sorted(source.choices(range(len(data) + 1), k=source.randint(1, 40)))
        yield [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


def typical_cuts(data: bytes) -> Iterator[Chunks]:
    """Whole, byte by byte, in odd and in network-like sizes, and three random ways."""
    yield [data]
    for size in (1, 7, 64, 1460):
        yield of_size(data, size)
    yield from seeded_cuts(data, 20, 3)


# -- what came of it ---------------------------------------------------------------------------------


def run(chunks: Iterable[bytes], **options: Any) -> tuple[list[trigate.Item], trigate.Response]:
    """All items, and the final response."""
    parser = trigate.ResponseParser(PROTOCOL, **options)
    items = [item for chunk in chunks for item in parser.feed(chunk)]
    return items, parser.finish()


_DELTAS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    trigate.TextDelta: lambda item: (item.index,),
    trigate.ReasoningDelta: lambda item: (item.index,),
    trigate.RefusalDelta: lambda item: (item.index,),
    trigate.ArgumentsDelta: lambda item: (item.call.wire_key, item.call.index),
}


def joined(items: Iterable[trigate.Item]) -> list[tuple[Any, ...]]:
    """The items as plain tuples, with adjacent pieces of one text joined: what no cut may change."""
    told: list[tuple[Any, ...]] = []
    for item in items:
        owner = _DELTAS.get(type(item))
        if owner is not None:
            assert isinstance(
                item,
                trigate.TextDelta | trigate.ReasoningDelta | trigate.RefusalDelta | trigate.ArgumentsDelta,
            )
            key = (type(item).__name__, *owner(item))
            if told and told[-1][:-1] == key:
                told[-1] = (*key, told[-1][-1] + item.text)
            else:
                told.append((*key, item.text))
        elif isinstance(item, trigate.ToolCallStarted):
            told.append(("ToolCallStarted", item.call.wire_key, item.call.index, item.call.kind))
        else:
            told.append((type(item).__name__, item))
    return told


def codes(response: trigate.Response) -> list[str]:
    return [anomaly.code for anomaly in response.anomalies]


def verdict(response: trigate.Response) -> list[tuple[str | None, str, str | None]]:
    """Each call as (call_id, state, problem)."""
    return [(call.call_id, call.state, call.problem) for call in response.calls]
