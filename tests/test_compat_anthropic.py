"""The anthropic SDK with trigate's decoder: on every recorded stream what the caller sees is the same, patched and not.

The exceptions are rows of a table in docs/compat/anthropic.md, where the SDK's own decoder departs from the standard.
"""

from __future__ import annotations

from typing import Any

import pytest

from recorded import needs_corpus
from sdk_clients import (
    ANTHROPIC,
    asked,
    check_shadow_finds_nothing,
    check_the_caller_sees_the_same,
    check_the_caller_sees_the_same_asynchronously,
    client_options,
    seen,
)
from sdk_deviations import check_rows, rows
from trigate.compat import anthropic as face
from trigate.compat.shadow import Difference

anthropic = pytest.importorskip("anthropic", reason="anthropic is not installed: make sdk")
streaming = pytest.importorskip("anthropic._streaming")

STREAM = b"".join(
    b"event: %s\ndata: %s\n\n" % row
    for row in (
        (
            b"message_start",
            b'{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],'
            b'"usage":{"input_tokens":1,"output_tokens":1}}}',
        ),
        (
            b"content_block_start",
            b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
        ),
        (
            b"content_block_delta",
            b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}',
        ),
        (b"content_block_stop", b'{"type":"content_block_stop","index":0}'),
        (b"message_stop", b'{"type":"message_stop"}'),
    )
)


def make(data: bytes) -> Any:
    return anthropic.Anthropic(**client_options(data))


def make_async(data: bytes) -> Any:
    return anthropic.AsyncAnthropic(**client_options(data, is_async=True))


# -- recorded streams --------------------------------------------------------------------------------


@needs_corpus
@pytest.mark.parametrize(("file", "ask"), asked(ANTHROPIC))
def test_the_caller_sees_the_same(file: str, ask: str) -> None:
    check_the_caller_sees_the_same(face, make, file, ask)


@needs_corpus
@pytest.mark.parametrize(("file", "ask"), asked(ANTHROPIC, 6))
def test_the_caller_sees_the_same_asynchronously(file: str, ask: str) -> None:
    check_the_caller_sees_the_same_asynchronously(face, make_async, file, ask)


@needs_corpus
@pytest.mark.parametrize(("file", "ask"), asked(ANTHROPIC, 6))
def test_shadow_finds_nothing(file: str, ask: str) -> None:
    check_shadow_finds_nothing(face, make, file, ask)


# -- where the SDK departs from the standard ---------------------------------------------------------


@pytest.mark.parametrize("row", rows("anthropic.md"), ids=lambda row: repr(row.body))
def test_the_page_s_table(row: Any) -> None:
    check_rows(row, streaming.SSEDecoder, face.Decoder)


def test_a_byte_order_mark_costs_no_event() -> None:
    data = b"\xef\xbb\xbf" + STREAM
    unpatched = seen(make(data), "messages.create")
    assert [event.type for event in unpatched][:1] == ["content_block_start"]
    assert isinstance(seen(make(data), "messages.stream")[-1], tuple)  # an exception
    with face.patch():
        assert [event.type for event in seen(make(data), "messages.create")][:1] == ["message_start"]
        assert seen(make(data), "messages.stream")[-1].content[0].text == "Hello"


def test_an_error_event_without_data_is_none() -> None:
    data = STREAM + b"event: error\n\n"
    assert seen(make(data), "messages.create")[-1][0] == "APIStatusError"
    with face.patch():
        assert seen(make(data), "messages.create")[-1].type == "message_stop"


def test_a_type_spelt_out_and_none_stay_apart() -> None:
    """The SDK passes over an event without a type, and takes one that is called message."""
    untyped = STREAM.replace(b"event: content_block_delta\n", b"")
    named = STREAM.replace(b"event: content_block_delta", b"event: message")
    for data, types in ((untyped, 4), (named, 5)):
        unpatched = seen(make(data), "messages.create")
        with face.patch():
            assert seen(make(data), "messages.create") == unpatched
        assert len(unpatched) == types


def test_the_lines_of_an_event_are_the_sdk_s() -> None:
    body = b": one\n\n: two\nevent: x\r\nfoo\ndata: \xe2\x80\xa8\n\nid: 1\ndata: b\r\n\r\n"
    expected = [event.raw for event in streaming.SSEDecoder().iter_bytes(iter([body]))]
    with make(b"") as client, face.patch(client):
        found = [event.raw for event in client._make_sse_decoder().iter_bytes(iter([body]))]
    assert found == expected == [[": two", "event: x", "foo", "data: \u2028"], ["id: 1", "data: b"]]


# -- patch -------------------------------------------------------------------------------------------


def decoder(client: Any) -> Any:
    return type(client._make_sse_decoder())


def test_one_client_and_its_copies() -> None:
    client, other = make(b""), make(b"")
    with client, other, face.patch(client):
        assert decoder(client) is face.Decoder
        assert decoder(client.with_options(timeout=3, max_retries=2)) is face.Decoder
        assert client.with_options(timeout=3).timeout == 3
        assert decoder(other) is streaming.SSEDecoder
    assert decoder(client) is streaming.SSEDecoder


@pytest.mark.parametrize("kind", ["Anthropic", "AsyncAnthropic"])
def test_every_kind_of_client(kind: str) -> None:
    client = getattr(anthropic, kind)(api_key="none")
    with face.patch(client):
        assert decoder(client) is decoder(client.with_options(timeout=1)) is face.Decoder
        assert decoder(client.with_middleware()) is face.Decoder
        assert isinstance(client._make_sse_decoder(), streaming.SSEBytesDecoder)
        assert type(client) is getattr(anthropic, kind)
    with face.patch():
        assert decoder(client) is face.Decoder
    assert decoder(client) is streaming.SSEDecoder


def test_a_copy_keeps_its_credentials() -> None:
    """The SDK hands a credentials provider on to copies of clients of exactly its own classes."""

    def provider(**_options: object) -> Any:
        raise AssertionError

    options = {name: value for name, value in client_options(b"").items() if name != "api_key"}
    with anthropic.Anthropic(credentials=provider, **options) as client, face.patch(client):
        assert client.with_options(timeout=1).credentials is provider


def test_bedrock_s_client_is_refused_and_left_alone() -> None:
    pytest.importorskip("botocore")
    client = anthropic.AnthropicBedrock(aws_region="us-east-1", aws_access_key="a", aws_secret_key="b")
    with client:
        own = decoder(client)
        with pytest.raises(RuntimeError, match="AnthropicBedrock makes a decoder of its own"):
            face.patch(client)
        with face.patch():
            assert decoder(client) is own


def test_a_stream_that_has_begun_keeps_its_decoder() -> None:
    client = make(STREAM)
    with client:
        with face.patch(client):
            stream = client.messages.create(model="m", max_tokens=1, messages=[], stream=True)
        assert isinstance(stream._decoder, face.Decoder)
        assert len(list(stream)) == 5


def test_unpatch() -> None:
    face.patch()
    with make(b"") as client:
        assert decoder(client) is face.Decoder
        face.unpatch()
        assert decoder(client) is streaming.SSEDecoder
        with pytest.raises(RuntimeError, match="anthropic is not patched"):
            face.unpatch()
        face.patch(client)
        face.unpatch(client)
        assert decoder(client) is streaming.SSEDecoder


def test_another_sdk_s_client_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a client of anthropic"):
        face.patch(object())


def test_shadow_says_what_differs() -> None:
    found: list[Difference] = []
    with face.patch(shadow=found.append):
        given = seen(make(STREAM + b"event: error\n\n"), "messages.create")
    assert given[-1][0] == "APIStatusError"
    assert [(difference.kind, difference.offset) for difference in found] == [("only_original", len(STREAM))]
    assert found[0].original.event == "error"
