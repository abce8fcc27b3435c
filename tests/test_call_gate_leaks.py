"""CallGate: no call leaves at a place where the parser looks for none, but some client might."""

from __future__ import annotations

import pytest

import cuts
from gate_runs import run, yes
from trigate.tap import CallGate

#: A failure that has a call in it as well: a client that overlooks the one would read the other.
FAILED_CALLS = {
    "openai-chat": [
        b'data: {"error":{"message":"no"},"choices":[{"index":0,"delta":%s,"finish_reason":"tool_calls"}]}\n\n',
        b'event: error\ndata: {"choices":[{"index":0,"delta":%s,"finish_reason":"tool_calls"}]}\n\n',
        b'data: {"error":{"message":"no"},"choices":[{"index":0,"delta":%s}]}\n',
        b'{"error":{"message":"no"},"choices":[{"index":0,"message":%s}]}',
        b'data: {"error":{"message":"no"}}\n\ndata: {"choices":[{"index":0,"delta":%s}]}\n\n',
    ],
    "ollama-chat": [b'{"error":"no","message":%s,"done":true}\n', b'{"error":"no","message":%s}'],
}


@pytest.mark.parametrize(
    ("protocol", "data"), [(name, data) for name, all_data in FAILED_CALLS.items() for data in all_data]
)
@pytest.mark.parametrize("named", [True, False])
def test_no_call_leaves_inside_a_failure(protocol: str, data: bytes, named: bool) -> None:
    call = b'{"tool_calls":[{"index":0,"id":"c","function":{"name":"secret","arguments":"{}"}}]}'
    for chunks in ([data % call], cuts.singly(data % call)):
        ran = run(chunks, protocol if named else "auto")
        assert b"secret" not in ran.out
        assert b"error" in ran.out
        assert ran.gate.response.status == "failed"
    harmless = (data % b"{}").split(b"\n\n")[0] + b"\n\n"
    assert run([harmless], protocol if named else "auto").out == harmless


@pytest.mark.parametrize("protocol", ["openai-chat", "auto"])
def test_no_call_leaves_under_the_name_of_a_ping(protocol: str) -> None:
    """The official SDK of this protocol reads no names of events."""
    text = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    call = b'{"tool_calls":[{"index":0,"id":"c","function":{"name":"secret","arguments":"{}"}}]}'
    data = text + b'event: ping\ndata: {"choices":[{"index":0,"delta":%s}]}\n\n' % call
    for chunks in ([data], cuts.singly(data)):
        ran = run(chunks, protocol)
        assert ran.out.startswith(text)
        assert b"secret" not in ran.out
        assert b"event_name_differs" in ran.out
    harmless = text + b'event: ping\ndata: {"type":"ping"}\n\n'
    assert CallGate(protocol, yes).feed(harmless) == harmless


def test_what_the_client_is_told_quotes_no_arguments() -> None:
    """A stream that contradicts itself is told of by its code and its byte; its own error says what differs."""
    delta = '"output_index":0,"item_id":"f","delta":"{\\"a\\":7654}"'
    item = '"output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"pay","arguments":'
    data = (
        'data: {"type":"response.created","response":{"id":"r","status":"in_progress"}}\n\n'
        f'data: {{"type":"response.output_item.added",{item}""}}}}\n\n'
        f'data: {{"type":"response.function_call_arguments.delta",{delta}}}\n\n'
        f'data: {{"type":"response.output_item.done",{item}"{{\\"a\\":3210}}"}}}}\n\n'
    ).encode()
    for chunks in ([data], cuts.singly(data)):
        ran = run(chunks, "openai-responses")
        assert b'"arguments_differ: the stream is at fault at byte' in ran.out
        assert b"7654" not in ran.out
        assert b"3210" not in ran.out
        assert "7654" in str(ran.gate.response.anomalies)
