"""What ends a Messages stream badly: errors of the provider in all their shapes, and broken events."""

from __future__ import annotations

import json

import pytest

from anthropic_streams import Script, one, parse

ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"}


@pytest.mark.parametrize("name", ["error", "", "ping", "content_block_delta"])
def test_an_error_ends_it_whatever_its_name(name: str) -> None:
    data = Script.begun().call(0).reason().data()
    response = parse(data + one(ERROR, name) + one({"type": "message_stop"}))
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert (response.error.layer, response.error.type) == ("provider", "overloaded_error")
    assert (response.error.message, response.error.offset) == ("Overloaded", len(data))
    assert response.error.raw == ERROR


@pytest.mark.parametrize(
    ("event", "kind", "message"),
    [
        (b'event: error\ndata: {"type":"api_error","message":"m"}\n\n', "api_error", "m"),
        (b'data: {"error":{"type":"api_error","message":"m"}}\n\n', "api_error", "m"),
        (b"event: error\ndata: upstream died\n\n", "error", "upstream died"),
        (b'event: error\ndata: {"type":"message_stop"}\n\n', "message_stop", '{"type": "message_stop"}'),
    ],
)
def test_errors_in_other_shapes(event: bytes, kind: str, message: str) -> None:
    response = parse(Script.begun().call(0).reason().data() + event)
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert (response.error.type, response.error.message) == (kind, message)


def test_text_before_an_error_is_kept() -> None:
    response = parse(Script.begun().text(0, "Half").data() + one(ERROR))
    assert response.text == "Half"
    assert response.to_message()["content"] == [{"type": "text", "text": "Half"}]


def test_bodies_that_are_no_stream() -> None:
    failed = parse(json.dumps(ERROR).encode())
    assert failed.error is not None
    assert (failed.status, failed.error.type) == ("failed", "overloaded_error")
    whole = parse(json.dumps({"type": "message", "content": [], "stop_reason": "tool_use"}).encode())
    assert whole.error is not None
    assert (whole.status, whole.error.code) == ("failed", "not_a_stream")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ('{"type":"content_block_delta","index":0,"delta":{"type":"input_json_', "invalid_json"),
        ('{"type":"content_block_delta","index":"0","delta":{"type":"x"}}', "wrong_shape"),
        ('{"type":"content_block_delta","delta":{"type":"x"}}', "wrong_shape"),
        ('{"type":"content_block_delta","index":0}', "missing_member"),
        ('{"type":"content_block_start","index":1}', "missing_member"),
        ('{"type":"content_block_stop"}', "wrong_shape"),
        ('{"type":"message_delta","delta":{"stop_reason":7}}', "wrong_shape"),
        ('{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta"}}', "missing_member"),
        (
            '{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":{}}}',
            "wrong_shape",
        ),
        ('{"type":"message_start"}', "missing_member"),
        ("[]", "wrong_shape"),
    ],
)
def test_broken_events_fail(data: str, code: str) -> None:
    start = Script.begun().tool(0).data()
    response = parse(start + f"data: {data}\n\n".encode() + Script().stop(0).end().data())
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert response.error.code == code
    assert response.error.offset is not None
    assert len(start) <= response.error.offset < len(start) + len(data) + 8
