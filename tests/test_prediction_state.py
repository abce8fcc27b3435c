"""What an interpreter would have remembered of an event taken unread: streams on which a stale memory would show.

Rules
 - Each stream has deltas that are taken unread, and behind them an event whose meaning hangs on what came before.
 - `both` compares; beside it stands what the stream means, so that two readings which are wrong alike do not pass.
"""

from __future__ import annotations

from typing import Any

import pytest

import anthropic_streams as anthropic
import cohere_streams as cohere
import converse_streams as converse
import ollama_streams as ollama
import streams as responses
import trigate
from bedrock_frames import exception, message, normal
from prediction_lanes import sse
from prediction_pairs import read
from prediction_wire import Raw


def codes(response: trigate.Response) -> list[str]:
    return [anomaly.code for anomaly in response.anomalies]


# -- openai-responses ------------------------------------------------------------------------------------


def script(numbers: list[Any], *, call: bool, twice: bool = False) -> list[bytes]:
    """Deltas of one item with these sequence numbers, between a right begin and a right end."""
    made = responses.Script().created()
    made.added(0, responses.function_item("") if call else responses.message_item(item_id="fc_1"))
    kind = "function_call_arguments" if call else "output_text"
    place = {"item_id": "fc_1", "output_index": 0} | ({} if call else {"content_index": 0})
    for number in numbers:
        members = {} if number is ... else {"sequence_number": number}
        made.events.append({"type": f"response.{kind}.delta", "delta": "x", **place, **members})
        if twice:
            made.events.append(made.events[-1])
    made.next_number = 1000
    made.end()
    return [responses.wire([event]) for event in made.events]


SEQUENCES: list[list[Any]] = [
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    [2, 3, 4, 4, 5, 6],
    [2, 3, 4, 6, 7, 8],
    [2, 3, 4, 3, 4, 5],
    [2, 3, 4, ..., 5, 6],
    [..., ..., ..., 2, 3, 4],
    [2, 3, 4, None, 5, "6", 6, 7.0, 8, True, 9],
    [2, 3, 4, -1, 5, 0, 6],
    [97, 98, 99, 100, 101],
    [999_998, 999_999, 1_000_000, 1_000_001],
    [10**17 - 2, 10**17 - 1, 10**17, 10**17 + 1],
    [10**18 - 2, 10**18 - 1, 10**18, 10**18 + 1],
    [2**62 - 2, 2**62 - 1, 2**62, 2**62 + 1],
    [2**63 - 2, 2**63 - 1, 2**63, 2**63 + 1],
    [2**64 - 2, 2**64 - 1, 2**64, 2**64 + 1, 2, 3],
]


@pytest.mark.parametrize("call", [False, True])
@pytest.mark.parametrize("numbers", SEQUENCES, ids=lambda numbers: f"{numbers[0]}-{len(numbers)}")
def test_sequence_numbers(numbers: list[Any], call: bool) -> None:
    read("openai-responses", script(numbers, call=call), 0)
    response = read("openai-responses", script(numbers, call=call, twice=True), 0)
    if all(isinstance(number, int) for number in numbers):
        assert "repeated_event" in codes(response)


def test_sequence_numbers_that_rise_are_predicted() -> None:
    response = read("openai-responses", script(list(range(2, 1200)), call=True), 1190)
    assert codes(response)[0] == "repeated_event"  # of the end, which has number 1000


def items(*steps: Any) -> list[bytes]:
    made = responses.Script().created()
    for step in steps:
        step(made)
    made.end(output=[])
    return [responses.wire([event]) for event in made.events]


def pieces_of(*texts: str, **members: Any) -> Any:
    return lambda made: [
        made.delta(members.get("index", 0), each, item_id=members.get("item_id", "fc_1")) for each in texts
    ]


def test_two_items_at_one_index() -> None:
    """Without an item_id nobody can say whose piece it is, and with one it still finds its own."""

    def added(call_id: str, item_id: str) -> Any:
        item = responses.function_item("", call_id=call_id, id=item_id)
        return lambda made: made.added(0, item)

    mine, other = pieces_of(*"{  }", item_id="fc_1"), pieces_of(*"{  }", item_id="fc_2")
    for last in (mine, other, pieces_of("x", item_id=None), pieces_of("x", item_id="fc_3")):
        begun = [added("a", "fc_1"), mine, added("b", "fc_2"), mine, other, mine]
        read("openai-responses", items(*begun, last, mine, other), 2)


def test_an_item_gets_its_id_from_a_piece() -> None:
    item = responses.function_item("", id=...)
    begun = [lambda made: made.added(0, item), pieces_of(*"{ ", item_id=None)]
    for first, second in ((None, "x"), ("x", None), ("x", "y"), ("x", "x")):
        read(
            "openai-responses",
            items(*begun, *(pieces_of(*"ab ", item_id=each) for each in (first, second, first))),
            1,
        )


@pytest.mark.parametrize("text", ["", "xxxx", "xxxxx", "y"])
def test_a_copy_is_compared_with_all_pieces(text: str) -> None:
    def closed(made: responses.Script) -> None:
        made.closed(0, text)
        made.done(0, responses.function_item(text))

    call = responses.function_item("")
    read(
        "openai-responses",
        items(lambda made: made.added(0, call), pieces_of(*"xxxx"), closed, pieces_of("x")),
        2,
    )


# -- anthropic-messages ----------------------------------------------------------------------------------


def messages(
    made: anthropic.Script, least: int, names: dict[int, str] | None = None, **options: Any
) -> trigate.Response:
    """names: other names of single events, by their place."""
    names = names or {}
    frames = [anthropic.one(event, names.get(at)) for at, event in enumerate(made.events)]
    return read(anthropic.PROTOCOL, frames, least, **options)


@pytest.mark.parametrize(
    "name", ["", "message", "content_block_del", "ping", "content_block_stop", "error", "odd"]
)
@pytest.mark.parametrize("at", [0, 3, 4, 5, 6, 7, 11])
def test_the_name_of_an_event_is_missing_or_cut(name: str, at: int) -> None:
    made = anthropic.Script.begun().tool().json(0, *"{    }").stop().text(1, *"abcd").end()
    messages(made, 0 if name == "error" else 1, {at: name})
    messages(made, 0, {at: name, at + 1: name})
    messages(made, 0, dict.fromkeys(range(at, 14), name))


def test_pieces_that_never_came_are_told_from_empty_ones() -> None:
    for pieces in ([], [""], ["", "", ""], ["{", "", "}"]):
        messages(
            anthropic.Script.begun().block(0, "tool_use", id="a", name="f").json(0, *pieces).stop().end(), 0
        )


def test_deltas_go_on_behind_a_stop() -> None:
    made = anthropic.Script.begun().text(0, *"abcd")
    for _ in range(4):
        made.delta(0, "text_delta", text="x")
    assert codes(messages(made.end("end_turn"), 4)) == ["delta_after_close"]
    made = anthropic.Script.begun().call(0, *"{   }").json(0, *"xy")
    assert messages(made.end(), 3).status == "conflict"


def test_a_block_takes_the_place_of_another() -> None:
    made = anthropic.Script.begun().tool(0, "a").json(0, *"{  ").tool(0, "b").json(0, *"{ }").stop(0)
    assert messages(made.end(), 1).status == "conflict"
    made = anthropic.Script.begun().tool(0, "a").tool(0, "a").json(0, *"{  }").tool(0, "a").stop(0)
    messages(made.end(), 1)
    made = anthropic.Script.begun().text(0, *"abc").text(0, *"def").call(0, *"{  }")
    assert messages(made.end(), 4).text == "abcdef"


def test_the_start_is_compared_with_all_pieces() -> None:
    for given in ({}, {"a": 1}, {"a": 2}):
        made = anthropic.Script.begun().tool(0, input=given).json(0, "{", '"a"', ":", "1", "}").stop()
        assert (messages(made.end(), 3).status == "conflict") == (given == {"a": 2})


# -- gemini-interactions ---------------------------------------------------------------------------------


def interactions(*steps: tuple[str, dict[str, Any]], least: int) -> trigate.Response:
    begin = ("interaction.created", {"interaction": {"id": "i1", "status": "in_progress"}})
    end = ("interaction.completed", {"interaction": {"id": "i1", "status": "completed"}})
    frames = [sse({"event_type": kind, **members}, kind) for kind, members in (begin, *steps, end)]
    return read("gemini-interactions", frames, least)


def told(kind: str, **delta: Any) -> tuple[str, dict[str, Any]]:
    return "step.delta", {"index": 0, "delta": {"type": kind, **delta}}


HALVES = (Raw(b'"\\ud83d"'), Raw(b'"\\ude00"'))


def test_where_a_block_of_text_begins() -> None:
    """Blocks are cut from one text by bytes: those that were taken unread count."""
    texts = [told("text", text=each) for each in ("ä", "b", "北", "d", *HALVES, "e", "f")]
    others = [
        told("text_annotation_delta", annotations=[{"a": 1}]),
        told("image", data="x"),
        told("model_output", content=[]),
        told("model_output", content=[{"type": "text", "text": "z"}]),
        told("thought_signature", signature="s"),
        told("text", text="q", annotations=[]),
        told("text", text=None),
        told("odd", text="r"),
    ]
    start = ("step.start", {"index": 0, "step": {"type": "model_output"}})
    given = (
        "step.start",
        {"index": 0, "step": {"type": "model_output", "content": [{"type": "text", "text": "ü"}]}},
    )
    stop = ("step.stop", {"index": 0})
    for first in (start, given):
        for other in others:
            response = interactions(first, *texts, other, *texts, other, *texts[:4], stop, least=4)
            assert response.text.count("ä") == 3
            interactions(first, *texts[:4], other, stop, *texts[:4], least=1)


# -- ollama-chat -----------------------------------------------------------------------------------------


def test_a_call_in_another_record_is_the_same_call() -> None:
    """Records are counted, so that two equal calls of one record are two: those taken unread need no number."""
    texts = [ollama.record(each) for each in "abcd"]
    call, named = ollama.call(), ollama.call(call_id="a")
    for first, second in (
        ([call], [call]),
        ([call, call], [call]),
        ([named], [call]),
        ([call], [named, call]),
    ):
        records = [
            *texts,
            ollama.record("", *first),
            *texts,
            ollama.record("", *second),
            *texts,
            ollama.done(),
        ]
        response = read("ollama-chat", [ollama.lines(each) for each in records], 6)
        assert response.text == "abcd" * 3
        assert "repeated_call" in codes(response)


@pytest.mark.parametrize("created", ["", "x", 0, 5, None, ...], ids=str)
def test_where_a_call_without_an_id_came_from(created: Any) -> None:
    """A generated id is made of the first time that is one, however many records came before it."""
    times = [created, created, created, "", "y", "z", "z"]
    records = [*map(ollama.record, "abcde"), ollama.record("", ollama.call()), ollama.done()]
    told = [record | {"created_at": time} for record, time in zip(records, times, strict=True)]
    lines = [ollama.lines({name: value for name, value in each.items() if value is not ...}) for each in told]
    response = read("ollama-chat", lines, 0, ids="generate")
    assert response.calls[0].call_id is not None


# -- gemini ------------------------------------------------------------------------------------------------


def gemini(*chunks: dict[str, Any], least: int) -> trigate.Response:
    return read("gemini", [sse(chunk) for chunk in chunks], least)


def part(
    told: dict[str, Any], count: int | None = None, response_id: str | None = None, end: str = ""
) -> Any:
    candidate: dict[str, Any] = {"content": {"parts": [told], "role": "model"}, "index": 0}
    candidate |= {"finishReason": end} if end else {}
    usage = {} if count is None else {"usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": count}}
    return {"candidates": [candidate], **usage} | ({"responseId": response_id} if response_id else {})


def test_the_last_counts_are_not_those_of_the_last_chunk() -> None:
    """A chunk without counts comes behind the one that has them."""
    counts = [1, 2, None, 3, None, 9, None, None]
    response = gemini(*(part({"text": "a"}, count) for count in counts), least=0)
    assert response.usage is not None
    assert response.usage.output_tokens == 9
    for first in ([None, None, None], [4, 5, 6]):
        gemini(*(part({"text": "a"}, count) for count in [*first, *counts]), least=1)
    response = gemini(*(part({"text": "a"}, count) for count in range(50)), least=47)
    assert response.usage is not None
    assert response.usage.output_tokens == 49


@pytest.mark.parametrize("ids", ["xxxy", "xxyyxy", "xxyyxyx", "xxyyxyyx", "xxx", "yyy", "yyxxyx"])
def test_whose_calls_come_behind_texts(ids: str) -> None:
    """A call without a response id is of the response that spoke last."""
    call = {"functionCall": {"name": "f", "args": {}}}
    texts = [part({"text": "a"}, response_id=each) for each in ids]
    first, last = part(call, response_id="x"), part(call)
    end = part({"text": "."}, response_id="x", end="STOP")
    response = gemini(first, *texts, last, *texts, end, least=0)
    assert (response.status == "conflict") == (ids[-1] == "y")


def test_parts_stay_apart() -> None:
    """They go back one by one, also those that were taken unread."""
    texts = ["a", "ü", "b", "北京", "c", "d"]
    chunks = [part({"text": each}) for each in texts]
    thoughts = [part({"text": each, "thought": True}) for each in texts]
    other = part({"text": "x", "thoughtSignature": "s"})
    response = gemini(*chunks, other, *thoughts, *chunks, part({"text": "."}, end="STOP"), least=10)
    told = [each.get("text") for each in response.to_message()["parts"]]
    assert told == [*texts, "x", *texts, *texts, "."]


# -- bedrock-converse ------------------------------------------------------------------------------------

_PIECE = b'{"contentBlockIndex":0,"delta":{"text":"x"},"p":"abc"}'


@pytest.mark.parametrize(
    ("odd", "status"),
    [
        (exception("throttlingException", _PIECE), "failed"),
        (
            message({":error-code": "busy", ":error-message": "busy", ":message-type": "error"}, _PIECE),
            "failed",
        ),
        (normal("contentBlockOther", _PIECE), "completed"),
        (normal("initial-response", _PIECE), "completed"),
        (normal("messageStart", _PIECE), "conflict"),
        (message({":event-type": "contentBlockDelta", ":message-type": "event"}, _PIECE), "completed"),
        (message({}, _PIECE), "completed"),
    ],
    ids=["exception", "error", "other", "noise", "start", "fewer headers", "no headers"],
)
def test_headers_say_what_a_message_is(odd: bytes, status: str) -> None:
    """A payload like a delta's is one only under a delta's headers."""
    piece_ = normal("contentBlockDelta", _PIECE)
    begin, end = converse.Script.begun().data(), converse.Script().stop().end("end_turn").data()
    for run in ([odd], [odd, odd, odd], [odd, piece_, piece_, odd]):
        response = read("bedrock-converse", [begin, *[piece_] * 4, *run, piece_, end], 2)
        assert response.status == status


# -- cohere-chat -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [0, 256, 257, 300, 2**40])
def test_pieces_of_one_index_are_one_item(index: int) -> None:
    made = cohere.Script.begun().text(*"abcdef", index=index).end("COMPLETE")
    frames = [cohere.one(event) for event in made.events]
    assert read("cohere-chat", frames, 4).text == "abcdef"
    parser = trigate.ResponseParser("cohere-chat")
    assert [item.text for item in parser.feed(made.data()) if isinstance(item, trigate.TextDelta)] == [
        "abcdef"
    ]


def test_arguments_as_an_object_behind_pieces() -> None:
    for pieces in (["{", " ", " ", "}", {"a": 1}, "x"], [{"a": 1}, "{", " ", "}"]):
        made = cohere.Script.begun().tool().piece(0, *pieces).stop().end()
        assert read("cohere-chat", [cohere.one(event) for event in made.events], 0).status == "conflict"
