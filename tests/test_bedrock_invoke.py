"""Bedrock's invoke stream: Messages events as base64 in binary frames, and what the frames themselves say."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

import trigate
from anthropic_streams import PING, Event, Script, codes, states
from bedrock_frames import chunk, chunks, error, exception, message, normal
from recorded import corpus_entries, corpus_stream, needs_corpus
from streams import every_two_cut, typical_cuts
from trigate.protocols.bedrock_invoke import BedrockInvoke

PROTOCOL = "bedrock-invoke"
ENTRIES = corpus_entries(PROTOCOL)
RELEASED = [("toolu_1", "released", None)]

entry_of = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"].rpartition("/")[2])


def parse(data: Any, **options: Any) -> trigate.Response:
    return trigate.parse(data, PROTOCOL, **options)


def good() -> Script:
    return Script.begun().text(0, "Hi ü").call(1).end()


# -- recordings --------------------------------------------------------------------------------------


@needs_corpus
def test_there_are_recordings() -> None:
    assert sorted(entry["inner"] for entry in ENTRIES) == ["anthropic", "anthropic", "nova", "nova"]


@needs_corpus
@entry_of
def test_recorded(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    first = parse(data)
    assert (first.status, first.reason, first.clean_end) == ("completed", entry["finish"], True)
    assert (first.protocol, first.anomalies) == (PROTOCOL, ())
    assert [(call.call_id, call.name, call.arguments) for call in first.released] == [
        (call["id"], call["name"], call["arguments"]) for call in entry["tool_calls"]
    ]
    assert len(first.released) == len(first.calls)
    assert hashlib.sha256(first.text.encode()).hexdigest() == entry["text_sha256"]
    for cut in typical_cuts(data):
        assert parse(cut) == first
    assert trigate.parse(data) == first


@needs_corpus
@entry_of
def test_recorded_answers(entry: dict[str, Any]) -> None:
    response = parse(corpus_stream(entry["file"]))
    message = response.to_message()
    assert message["role"] == "assistant"
    member = "toolUse" if entry["inner"] == "nova" else "type"
    assert any(member in block for block in message["content"]) or not response.calls
    for call in response.released:
        (block,) = response.tool_result_message(call, "x")["content"]
        assert call.call_id in (block.get("tool_use_id"), block.get("toolResult", {}).get("toolUseId"))


@needs_corpus
@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e["bytes"] <= 8192], ids=lambda entry: entry["file"].rpartition("/")[2]
)
def test_no_prefix_releases_anything(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    for length in range(len(data)):
        response = parse(data[:length])
        assert (response.status, response.released) == ("truncated", ())


# -- the envelope ------------------------------------------------------------------------------------


def test_a_good_message() -> None:
    data = chunks(good().events)
    response = parse(data)
    assert (response.status, response.reason, response.text) == ("completed", "tool_use", "Hi ü")
    assert (states(response), response.anomalies) == (RELEASED, ())
    for cut in every_two_cut(data):
        assert parse(cut) == response
    found = trigate.parse(data)
    assert (found.protocol, found) == (PROTOCOL, response)


def test_it_says_the_same_as_the_messages_protocol() -> None:
    scripts = [good(), Script.begun().call(0).end("max_tokens"), Script.begun().call(0).json(0, "x").end()]
    scripts += [Script.begun().tool(0, input={"a": 1}).stop(0).end(), Script.begun().call(0).reason()]
    for script in scripts:
        wrapped, plain = parse(chunks(script.events)), script.parse()
        assert (wrapped.status, wrapped.reason, wrapped.text) == (plain.status, plain.reason, plain.text)
        assert states(wrapped) == states(plain)
        assert codes(wrapped) == codes(plain)
        assert wrapped.to_message() == plain.to_message()


def test_answers_are_those_of_messages() -> None:
    response = parse(chunks(good().events))
    assert response.to_message() == good().parse().to_message()
    assert response.tool_result_message(response.released[0], "x", is_error=True) == {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x", "is_error": True}],
    }


def test_offsets_are_those_of_the_frames() -> None:
    events = Script.begun().call(0).json(0, "x").end().events
    place = len(chunks(events[:-3]))
    response = parse(chunks(events))
    assert response.error is not None
    assert (response.status, response.error.code) == ("conflict", "delta_after_close")
    assert response.error.offset == place


def test_noise() -> None:
    data = (
        normal("initial-response", b"{}")
        + chunk(PING)
        + chunks(good().events)
        + normal("initial-response", b"")
    )
    assert (states(parse(data)), parse(data).anomalies) == (RELEASED, ())


def test_an_unknown_event_is_shown() -> None:
    data = chunks(good().events[:1]) + normal("audit", b'{"x":1}') + chunks(good().events[1:])
    response = parse(data)
    assert (states(response), codes(response)) == (RELEASED, ["unknown_type"])
    assert parse(data, strict=True).status == "failed"


def test_metrics_are_shown() -> None:
    script = good()
    script.events[-1]["amazon-bedrock-invocationMetrics"] = {"inputTokenCount": 3}
    parser = trigate.ResponseParser(PROTOCOL)
    items = parser.feed(chunks(script.events))
    (other,) = [item for item in items if isinstance(item, trigate.OtherEvent)]
    assert (other.type, json.loads(other.data)) == (
        "amazon-bedrock-invocationMetrics",
        {"inputTokenCount": 3},
    )
    assert isinstance(items[-1], trigate.ResponseEnded)
    assert states(parser.finish()) == RELEASED


@pytest.mark.parametrize("place", [2, -1])
def test_a_guardrail_is_shown_and_the_stop_reason_decides(place: int) -> None:
    """It may only have masked a text, as in a recording."""
    for word, calls in (("tool_use", RELEASED), ("refusal", [("toolu_1", "void", "response_not_completed")])):
        script = Script.begun().text(0).call(1).end(word)
        script.events[place]["amazon-bedrock-guardrailAction"] = "INTERVENED"
        parser = trigate.ResponseParser(PROTOCOL)
        others = [i for i in parser.feed(chunks(script.events)) if isinstance(i, trigate.OtherEvent)]
        assert [(item.type, item.data) for item in others] == [
            ("amazon-bedrock-guardrailAction", '"INTERVENED"')
        ]
        assert states(parser.finish()) == calls


# -- how else it ends --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "internalServerException",
        "modelStreamErrorException",
        "validationException",
        "throttlingException",
        "serviceUnavailableException",
        "modelTimeoutException",
        "newException",
    ],
)
def test_an_exception_fails_it(name: str) -> None:
    begun = chunks(good().events[:-1])
    for data in (begun, b""):
        response = parse(data + exception(name) + chunk({"type": "message_stop"}))
        assert (response.status, response.released) == ("failed", ())
        assert response.reason == ("tool_use" if data else None)
        assert response.error is not None
        assert (response.error.layer, response.error.type, response.error.code) == ("provider", name, name)
        assert (response.error.message, response.error.offset) == ("Too many", len(data))
    assert parse(begun + exception(name)).to_message()["content"] == [{"type": "text", "text": "Hi ü"}]


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b"", "the stream ended with modelStreamErrorException"),
        (b'{"originalStatusCode":500,"originalMessage":"boom"}', "boom"),
        (b"no json", "no json"),
        (b"[1]", "[1]"),
    ],
)
def test_what_an_exception_says(payload: bytes, said: str) -> None:
    response = parse(chunks(good().events[:-1]) + exception("modelStreamErrorException", payload))
    assert response.error is not None
    assert (response.status, response.error.message) == ("failed", said)


def test_an_unmodelled_error_fails_it() -> None:
    response = parse(chunks(good().events[:-1]) + error("InternalError", "An internal server error occurred"))
    assert response.error is not None
    assert (response.status, response.reason, response.released) == ("failed", "tool_use", ())
    assert response.error.message == "An internal server error occurred"


@pytest.mark.parametrize(
    "late",
    [
        exception("throttlingException"),
        error("InternalError", "late"),
        normal("audit", b"{}"),
        chunk({"type": "message_stop"}),
        chunk({"messageStop": {"stopReason": "max_tokens"}}),
        chunk({"typo": 1}),
        normal("chunk", b"{"),
    ],
)
def test_after_the_end_nothing_changes(late: bytes) -> None:
    response = parse(chunks(good().events) + late)
    assert (response.status, states(response)) == ("completed", RELEASED)
    assert codes(response) in (["event_after_end"], ["fault_after_end"])


def test_an_error_inside_a_chunk() -> None:
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    response = parse(chunks([*good().events[:-1], event]))
    assert response.error is not None
    assert (response.status, response.error.type) == ("failed", "overloaded_error")


def test_a_broken_frame_fails_it_and_a_cut_one_is_truncated() -> None:
    data = bytearray(chunks(good().events))
    data[-40] ^= 1
    response = parse(bytes(data))
    assert response.error is not None
    assert (response.status, response.released) == ("failed", ())
    assert response.error.code == "message_crc_mismatch"
    assert parse(chunks(good().events)[:-1]).status == "truncated"


def broken() -> list[tuple[bytes, str]]:
    whole = Script().json(1, "2").events[0]
    return [
        (normal("chunk", b'{"bytes":"e30=!"}'), "invalid_base64"),
        (normal("chunk", '{"bytes":"é"}'.encode()), "invalid_base64"),
        (normal("chunk", b'{"bytes":7}'), "wrong_shape"),
        (normal("chunk", b'{"p":"abc"}'), "wrong_shape"),
        (normal("chunk", b"{"), "invalid_json"),
        (chunk(b"{"), "invalid_json"),
        (chunk(b"[]"), "wrong_shape"),
        (chunk(json.dumps(whole).encode().replace(b"2", b"\xff")), "invalid_utf8"),
        (chunk({"typo": "content_block_delta", "index": 1, "delta": whole["delta"]}), "missing_member"),
    ]


@pytest.mark.parametrize("number", range(9))
def test_broken_chunks_fail_it(number: int) -> None:
    begun, rest = good().events[:6], good().events[6:]
    data, code = broken()[number]
    response = parse(chunks(begun) + data + chunks(rest))
    assert response.error is not None
    assert (response.status, response.released, response.error.code) == ("failed", (), code)
    assert response.error.offset is not None
    assert 0 <= response.error.offset - len(chunks(begun)) < len(data)


# -- other models ------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", [{"outputText": "Hi", "index": 0}, {"generation": "Hi"}])
def test_another_family_is_not_guessed_at(event: Event) -> None:
    response = parse(chunk(event))
    assert response.error is not None
    assert (response.status, response.error.code) == ("failed", "unknown_protocol")


def nova(*, stop: str = "tool_use") -> list[Event]:
    return [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "Hi"}, "contentBlockIndex": 0}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {
            "contentBlockStart": {
                "start": {"toolUse": {"toolUseId": "t", "name": "go"}},
                "contentBlockIndex": 2,
            }
        },
        {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"a":1}'}}, "contentBlockIndex": 2}},
        {"contentBlockStop": {"contentBlockIndex": 2}},
        {"messageStop": {"stopReason": stop}},
        {
            "metadata": {"usage": {"inputTokens": 1, "outputTokens": 2}},
            "amazon-bedrock-invocationMetrics": {},
        },
    ]


def test_nova_speaks_converse() -> None:
    response = parse(chunks(nova()))
    assert (response.status, response.reason, response.text) == ("completed", "tool_use", "Hi")
    assert states(response) == [("t", "released", None)]
    assert parse(chunks(nova(stop="max_tokens"))).status == "incomplete"
    assert parse(chunks(nova()[:6])).status == "truncated"
    failed = parse(chunks(nova()[:6]) + exception("throttlingException") + chunks(nova()[6:]))
    assert (failed.status, failed.released) == ("failed", ())


def test_two_families_in_one_stream_are_a_conflict() -> None:
    for events in (
        [*good().events[:-1], nova()[6], good().events[-1]],
        [*nova()[:6], good().events[-1], nova()[6]],
    ):
        response = parse(chunks(events))
        assert (response.status, response.released) == ("conflict", ())
        assert "protocol_changed" in codes(response)


def test_the_class_knows_its_frames() -> None:
    frame = trigate.ServerSentEvent("chunk")
    assert BedrockInvoke.recognises(frame, {"bytes": "e30="})
    assert not BedrockInvoke.recognises(frame, {"bytes": 7})
    assert not BedrockInvoke.recognises(trigate.ServerSentEvent("messageStart"), {"role": "assistant"})
    assert not BedrockInvoke.recognises(trigate.ServerSentEvent(), {"bytes": "e30="})
    assert parse(message({":message-type": "event"}, b"{}")).status == "truncated"
