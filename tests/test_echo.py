"""What goes back is written when it is asked for: it reads as the tuple that it was, and nothing changes it later."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import trigate


def told(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in events)


def start(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, member: str, piece: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, member: piece}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


BEGIN = {"type": "message_start", "message": {"id": "m", "model": "x", "content": []}}
END = (
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
)
TOOL = {"type": "tool_use", "id": "t", "name": "f", "input": {}, "caller": {"type": "direct"}}
BLOCKS = (
    start(0, {"type": "text", "text": ""}),
    delta(0, "text_delta", "text", "é"),
    stop(0),
    start(1, TOOL),
    delta(1, "input_json_delta", "partial_json", '{"a": 1.50}'),
    stop(1),
)
ECHO = (
    rb'{"type": "text", "text": "\u00e9"}',
    b'{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1.50}, "caller": {"type": "direct"}}',
)


def test_it_is_the_tuple_that_it_reads_as() -> None:
    response = trigate.parse(told(BEGIN, *BLOCKS, *END), "anthropic-messages")
    assert response.echo == ECHO
    assert (len(response.echo), response.echo[1], response.echo[:1]) == (2, ECHO[1], ECHO[:1])
    assert (repr(response.echo), hash(response.echo)) == (repr(ECHO), hash(ECHO))


def test_copies_are_equal_read_or_not() -> None:
    response = trigate.parse(told(BEGIN, *BLOCKS, *END), "anthropic-messages")
    unread = pickle.loads(pickle.dumps(response.echo))
    assert unread == response.echo == copy.deepcopy(response.echo)
    assert tuple(response.echo) == tuple(unread) == ECHO


def test_it_stays_what_it_was_when_the_stream_goes_on() -> None:
    """A truncated end may be taken back: what had been told of it must not grow with the blocks."""
    parser = trigate.ResponseParser("anthropic-messages")
    events = (BEGIN, *BLOCKS[:2])
    named = b"".join(b"id: %d\n%b" % (number, told(each)) for number, each in enumerate(events))
    parser.feed(named)
    cut = parser.finish()
    parser.resume()
    rest = (delta(0, "text_delta", "text", "!"), *BLOCKS[2:], *END)
    parser.feed(b"".join(b"id: %d\n%b" % (number, told(each)) for number, each in enumerate(rest, 10)))
    assert cut.echo == ECHO[:1]
    assert parser.finish().echo == (rb'{"type": "text", "text": "\u00e9!"}', ECHO[1])


def test_a_start_goes_back_however_long_or_deep_it_is() -> None:
    for depth, length in ((1, 1), (63, 1), (64, 1), (65, 1), (300, 1), (1, 3000), (300, 3000)):
        caller: Any = "x" * length
        for _ in range(depth):
            caller = [caller]
        events = (start(0, {**TOOL, "caller": caller}), delta(0, "input_json_delta", "partial_json", "{}"))
        response = trigate.parse(told(BEGIN, *events, stop(0), *END), "anthropic-messages")
        assert [call.call_id for call in response.released] == ["t"]
        assert json.loads(response.echo[0]) == {**TOOL, "caller": caller}
