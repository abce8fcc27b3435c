"""What is no stream is told apart from a stream that was cut: the advice differs."""

from __future__ import annotations

import pytest

import trigate

NO_STREAM = [
    b"hello\n",
    b"Unauthorized",
    b"null",
    b"upstream connect error\r\n",
    b"<html></html>",
    b"\x1f\x8b\x08\x00",
]
BEGUN = [
    b"",
    b"\xef\xbb\xbf",
    b"d",
    b"eve",
    b"event",
    b"data",
    b"data:",
    b": ping\n\n",
    b"id: 3\n",
    b"retry: 5\n\n",
    b"\n",
]


@pytest.mark.parametrize("protocol", ["auto", *trigate.PROTOCOLS])
@pytest.mark.parametrize("data", NO_STREAM)
def test_text_without_an_event_is_no_stream(data: bytes, protocol: str) -> None:
    framings = trigate.PROTOCOLS[protocol].framings if protocol != "auto" else ("sse",)
    if framings[0] != "sse":
        pytest.skip("its records and frames have no field names to miss")
    response = trigate.parse(data, protocol)
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("transport", "not_a_stream")
    for cut in range(1, len(data)):
        assert trigate.parse([data[:cut], data[cut:]], protocol) == response


@pytest.mark.parametrize("data", BEGUN)
def test_what_may_go_on_as_a_stream_is_cut(data: bytes) -> None:
    response = trigate.parse(data, "openai-responses")
    assert response.status == "truncated"
    assert response.error is not None
    assert response.error.offset == len(data)


def test_the_message_shows_what_came() -> None:
    error = trigate.parse(b"upstream connect error\n", "openai-chat").error
    assert error is not None
    assert "upstream connect error" in error.message
    zipped = trigate.parse(b"\x1f\x8b\x08\x00", "openai-chat").error
    assert zipped is not None
    assert "decompress" in zipped.message
    empty = trigate.parse(b"", "openai-chat").error
    assert empty is not None
    assert "empty" in empty.message


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b'{"message":"Not found"}\n', "error", "Not found"),
        (b'{"message":"Not found"}', "error", "Not found"),
        (b'data: {"message":"Not found"}\n\n', "error", "Not found"),
        (b"event: error\ndata: overloaded\n\n", "error", "overloaded"),
        (b'event: error\ndata: {"code":7,"message":"m"}\n\n', 7, "m"),
    ],
)
def test_auto_tells_the_server_s_words(data: bytes, code: str | int, message: str) -> None:
    response = trigate.parse(data)
    assert response.status == "failed"
    assert response.error is not None
    assert (response.error.layer, response.error.code, response.error.message) == ("provider", code, message)


def test_auto_names_the_byte_of_a_broken_first_event() -> None:
    error = trigate.parse(b"data: {oops\n\n").error
    assert error is not None
    assert (error.layer, error.code, error.offset) == ("decode", "invalid_json", 7)
    other = trigate.parse(b'data: {"a":1}\n\n').error
    assert other is not None
    assert (other.code, "name the protocol" in other.message) == ("unknown_protocol", True)


@pytest.mark.parametrize("data", [b"data: [DONE]\n\n", b": ping\n\n"])
def test_an_end_without_a_beginning_is_a_cut_stream(data: bytes) -> None:
    assert trigate.parse(data).status == "truncated"
