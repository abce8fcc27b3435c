"""The openai SDK with trigate's decoder: on every recorded stream what the caller sees is the same, patched and not.

The exceptions are rows of a table in docs/compat/openai.md, where the SDK's own decoder departs from the standard.
"""

from __future__ import annotations

from typing import Any

import pytest

from recorded import needs_corpus
from sdk_clients import (
    OPENAI,
    asked,
    check_shadow_finds_nothing,
    check_the_caller_sees_the_same,
    check_the_caller_sees_the_same_asynchronously,
    client_options,
    seen,
)
from sdk_deviations import check_rows, rows
from trigate.compat import openai as face
from trigate.compat.shadow import Difference

openai = pytest.importorskip("openai", reason="openai is not installed: make sdk")
streaming = pytest.importorskip("openai._streaming")

#: Two chunks, the second behind a keep-alive, as a server with event ids sends them.
STREAM = b"".join(
    b'id: %d\ndata: {"id":"c","object":"chat.completion.chunk","created":0,"model":"m","choices":'
    b'[{"index":0,"delta":{"role":"assistant","content":"%s"},"finish_reason":%s}]}\n\n' % row
    for row in ((1, b"Hel", b"null"), (2, b"lo", b'"stop"'))
)
DONE = b"data: [DONE]\n\n"


def make(data: bytes) -> Any:
    return openai.OpenAI(**client_options(data))


def make_async(data: bytes) -> Any:
    return openai.AsyncOpenAI(**client_options(data, is_async=True))


def text(found: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content for chunk in found)


# -- recorded streams --------------------------------------------------------------------------------


@needs_corpus
@pytest.mark.parametrize(("file", "ask"), asked(OPENAI))
def test_the_caller_sees_the_same(file: str, ask: str) -> None:
    check_the_caller_sees_the_same(face, make, file, ask)


@needs_corpus
@pytest.mark.parametrize(("file", "ask"), asked(OPENAI, 6))
def test_the_caller_sees_the_same_asynchronously(file: str, ask: str) -> None:
    check_the_caller_sees_the_same_asynchronously(face, make_async, file, ask)


@needs_corpus
@pytest.mark.parametrize(("file", "ask"), asked(OPENAI, 6))
def test_shadow_finds_nothing(file: str, ask: str) -> None:
    check_shadow_finds_nothing(face, make, file, ask)


# -- where the SDK departs from the standard ---------------------------------------------------------


@pytest.mark.parametrize("row", rows("openai.md"), ids=lambda row: repr(row.body))
def test_the_page_s_table(row: Any) -> None:
    check_rows(row, streaming.SSEDecoder, face.Decoder)


def test_a_keep_alive_behind_an_id_is_no_event() -> None:
    """The SDK makes an empty event of it, and then no JSON of that."""
    data = STREAM + b": keep-alive\n\n" + DONE
    unpatched = seen(make(data), "chat.create")
    assert text(unpatched[:2]) == "Hello"
    assert unpatched[2][0] == "JSONDecodeError"
    with face.patch():
        assert text(seen(make(data), "chat.create")) == "Hello"


def test_a_byte_order_mark_costs_no_event() -> None:
    data = b"\xef\xbb\xbf" + STREAM.replace(b"id: 1\n", b"").replace(b"id: 2\n", b"") + DONE
    assert text(seen(make(data), "chat.create")) == "lo"
    with face.patch():
        assert text(seen(make(data), "chat.create")) == "Hello"


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


@pytest.mark.parametrize("kind", ["AzureOpenAI", "AsyncAzureOpenAI", "OpenAI", "AsyncOpenAI"])
def test_every_kind_of_client(kind: str) -> None:
    options = {"api_version": "1", "azure_endpoint": "http://sdk.test"} if "Azure" in kind else {}
    client = getattr(openai, kind)(api_key="none", **options)
    with face.patch(client):
        assert decoder(client) is decoder(client.with_options(timeout=1)) is face.Decoder
        assert isinstance(client._make_sse_decoder(), streaming.SSEBytesDecoder)
    with face.patch():
        assert decoder(client) is face.Decoder
    assert decoder(client) is streaming.SSEDecoder


def test_a_stream_that_has_begun_keeps_its_decoder() -> None:
    client = make(STREAM + DONE)
    with client:
        with face.patch(client):
            stream = client.chat.completions.create(model="m", messages=[], stream=True)
        assert isinstance(stream._decoder, face.Decoder)
        assert text(list(stream)) == "Hello"


def test_unpatch() -> None:
    face.patch()
    with make(b"") as client:
        assert decoder(client) is face.Decoder
        face.unpatch()
        assert decoder(client) is streaming.SSEDecoder
        with pytest.raises(RuntimeError, match="openai is not patched"):
            face.unpatch()
        face.patch(client)
        face.unpatch(client)
        assert decoder(client) is streaming.SSEDecoder


def test_another_sdk_s_client_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a client of openai"):
        face.patch(object())


def test_shadow_hands_on_the_sdk_s_own_error_and_says_what_differs() -> None:
    found: list[Difference] = []
    with face.patch(shadow=found.append):
        given = seen(make(STREAM + b": keep-alive\n\n" + DONE), "chat.create")
    assert given[2][0] == "JSONDecodeError"
    assert [(difference.original.data, difference.ours.data) for difference in found] == [("", "[DONE]")]
    assert found[0].offset == len(STREAM + b": keep-alive\n\n")
