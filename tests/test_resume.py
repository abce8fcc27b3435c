"""A stream that breaks anywhere and goes on over another connection comes to what it would have come to uncut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

import trigate
from prediction_pairs import predicting
from recorded import corpus_entries, corpus_stream, needs_corpus
from replays import NUMBERED, Numbered, after, blocks, same, started, told, with_ids
from streams import PROTOCOL, Script, bytewise, codes, function_item

by_name = pytest.mark.parametrize("numbered", NUMBERED.values(), ids=NUMBERED)


def ends(numbered: Numbered) -> Iterator[int]:
    """So many events may have come whole; of a long stream some places only."""
    last = len(numbered.events) - 1
    return iter(range(1, last + 1) if last < 30 else sorted({1, 2, 7, last // 3, last // 2, last - 2, last}))


@pytest.fixture(params=[True, False], ids=["predicting", "reading"], autouse=True)
def _mode(request: pytest.FixtureRequest) -> Iterator[None]:
    with predicting(request.param):
        yield


@by_name
@pytest.mark.parametrize("is_finished", [True, False], ids=["finished", "going"])
def test_a_replay_from_the_start(numbered: Numbered, is_finished: bool) -> None:
    """Cut at every event, and inside the next one: no call begins twice, no piece is taken twice."""
    begun = started(trigate.iter_items(numbered.data, numbered.protocol))
    for count in ends(numbered):
        parser, items = numbered.begin_with(count, more=numbered.events[count][:-9])
        if is_finished:
            cut = parser.finish()
            if cut.status != "truncated":
                continue  # its end had come before its last event
            items += parser._rest()
        parser.resume()
        for chunk in (numbered.data[:100], numbered.data[100:]):
            items += parser.feed(chunk)
        response = parser.finish()
        assert same(response, numbered.whole), count
        assert started(items) == begun
        assert list(told(items)) == list(told(trigate.iter_items(numbered.data, numbered.protocol)))
        assert codes(response).count("repeated_event") == count
        assert "resumed" in codes(response)


@by_name
def test_going_on_from_the_point(numbered: Numbered) -> None:
    for count in ends(numbered):
        parser, _ = numbered.begin_with(count, more=numbered.events[count][:15])
        response = parser.stop(
            "truncated", trigate.ErrorInfo("transport", "transport", "connection_lost", "m")
        )
        if response.status != "truncated":
            continue
        point = trigate.resume_point(response)
        parser.resume()
        parser.feed(after(numbered.events, point))
        response = parser.finish()
        assert same(response, numbered.whole), count
        assert codes(response).count("repeated_event") == 0


@by_name
def test_a_replay_from_before_byte_by_byte(numbered: Numbered) -> None:
    """A server may begin anywhere before; and the connection may break again and again."""
    parser = trigate.ResponseParser(numbered.protocol)
    taken = 0
    for _ in range(4):
        begin = max(0, taken - 2)
        taken = min(taken + 3, len(numbered.events) - 1)
        for chunk in bytewise(b"".join(numbered.events[begin:taken]) + numbered.events[taken][:7]):
            parser.feed(chunk)
        parser.resume()
    parser.feed(b"".join(numbered.events[max(0, taken - 1) :]))
    assert same(parser.finish(), numbered.whole)


@needs_corpus
def test_recorded_streams_go_on() -> None:
    """Real streams of the provider that numbers its events, cut in three places."""
    entries = corpus_entries("openai-responses")
    assert entries
    for entry in entries[:12]:
        data = corpus_stream(entry["file"])
        events, whole = blocks(data), trigate.parse(data, PROTOCOL)
        if whole.sequence_number is None or len(events) < 4:
            continue
        for count in (2, len(events) // 2, len(events) - 1):
            parser = trigate.ResponseParser(PROTOCOL)
            items = parser.feed(b"".join(events[:count]) + events[count][:20])
            if parser.finish().status != "truncated":
                continue
            parser.resume()
            items += parser.feed(data)
            assert same(parser.finish(), whole), (entry["file"], count)
            assert started(items) == started(trigate.iter_items(data, PROTOCOL))


def test_offsets_count_over_connections() -> None:
    numbered = NUMBERED["responses"]
    first = b"".join(numbered.events[:4])
    parser, _ = numbered.begin_with(4)
    parser.resume()
    parser.feed(b"".join(numbered.events[3:]))
    response = parser.finish()
    resumed, repeated = response.anomalies
    assert (resumed.code, resumed.offset) == ("resumed", len(first))
    assert (repeated.code, repeated.offset) == ("repeated_event", len(first))
    assert response.decisions[-1].offset == len(first) + sum(len(one) for one in numbered.events[3:-1])


def test_items_stand_where_they_stood_in_both_connections_together() -> None:
    """Of a replay from the start, an item's bytes lie as far behind the first connection's as they lay in it."""
    numbered = next(iter(NUMBERED.values()))
    whole = trigate.ResponseParser(numbered.protocol).feed(numbered.data)
    parser, items = numbered.begin_with(2)
    first = sum(map(len, numbered.events[:2]))
    parser.finish()
    parser._rest()
    parser.resume()
    again = parser.feed(numbered.data)
    meant = {
        (type(item), item.start + first, item.end + first)
        for item in whole
        if item.start is not None and item.end is not None
    }
    found = {(type(item), item.start, item.end) for item in again}
    assert found
    assert found <= meant
    assert all(item.end is not None and item.end <= first for item in items)


def test_a_fault_and_a_cut_on_the_second_connection_count_too() -> None:
    numbered = NUMBERED["responses"]
    for more, offset in ((b"data: {\xff", 7), (b"data: {]\n\n", 7), (b'data: {"', 8)):
        parser, _ = numbered.begin_with(4)
        before = parser._fed
        parser.resume()
        parser.feed(more)
        response = parser.finish()
        assert response.error is not None
        assert response.error.offset == before + offset


@pytest.mark.parametrize("release_on", ["response", "call"])
def test_calls_are_done_and_released_once(release_on: Any) -> None:
    """Of a call that the break had voided, the end is told again, for it is another one."""
    script = Script().created().call('{"a":1}').call("{}", index=1, call_id="call_2", item_id="fc_2").end()
    events = blocks(script.data())
    parser = trigate.ResponseParser(PROTOCOL, release_on=release_on)
    items = parser.feed(b"".join(events[:7]))
    cut = parser.finish()
    items += parser._rest()
    assert [call.state for call in cut.calls] == ["released" if release_on == "call" else "void", "void"]
    parser.resume()
    assert [call.state for call in parser.response.calls] == [
        "released" if release_on == "call" else "done",
        "streaming",
    ]
    items += parser.feed(script.data())
    response = parser.finish()
    assert [call.call_id for call in response.released] == ["call_1", "call_2"]
    done = [item.call for item in items if isinstance(item, trigate.ToolCallDone)]
    assert [(call.call_id, call.state, call.problem) for call in done] == [
        ("call_1", "released" if release_on == "call" else "done", None),
        ("call_2", "void", "incomplete"),
        ("call_2", "released" if release_on == "call" else "done", None),
    ]


def test_half_a_character_goes_on() -> None:
    """The first half of a surrogate pair, the break, the second half."""
    script = Script().created().message("a\ud83c", "\udf0d.").end()
    data = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in script.events)
    events = blocks(data)
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(b"".join(events[:3]))
    assert parser.finish().text == "a\ufffd"
    parser.resume()
    parser.feed(data)
    assert parser.finish().text == "a🌍."


@pytest.mark.parametrize("is_finished", [True, False], ids=["finished", "going"])
def test_an_error_outside_of_events_goes_with_its_connection_unless_it_was_whole(is_finished: bool) -> None:
    numbered = NUMBERED["gemini with ids"]
    parser, _ = numbered.begin_with(2, more=b'{"error": {"code": 503, "mess')
    if is_finished:
        assert parser.finish().status == "truncated"
    parser.resume()
    parser.feed(numbered.data)
    assert same(parser.finish(), numbered.whole)

    parser, _ = numbered.begin_with(1)
    parser.resume()
    parser.feed(numbered.data[: len(numbered.events[0])])
    parser.feed(b'{"error": {"code": 503, "message": "x"}}\n\n')
    response = parser.finish()
    assert response.error is not None
    assert (response.status, response.error.code) == ("failed", 503)
    assert response.error.offset == 2 * len(numbered.events[0])


# -- what cannot go on -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chat with ids", "messages with ids", "cohere with ids", "gemini with ids"])
def test_without_numbers_there_is_no_point(name: str) -> None:
    numbered = NUMBERED[name]
    parser = trigate.ResponseParser(numbered.protocol)
    bare = [event.partition(b"\n")[2] for event in numbered.events]
    parser.feed(bare[0])
    for response in (parser.response, parser.finish()):
        with pytest.raises(trigate.StructureError) as caught:
            trigate.resume_point(response)
        assert caught.value.code == "not_resumable"
    with pytest.raises(trigate.StructureError, match="tells a repeated one") as refused:
        parser.resume()
    assert (refused.value.code, refused.value.offset) == ("not_resumable", len(bare[0]))
    assert parser.finish().status == "truncated"


@pytest.mark.parametrize("at", range(1, 6))
def test_one_event_without_a_number_is_enough(at: int) -> None:
    """It would be taken twice."""
    script = Script().created().call('{"a":1}').end()
    del script.events[at]["sequence_number"]
    parser = trigate.ResponseParser(PROTOCOL)
    for event in blocks(script.data())[:-1]:
        parser.feed(event)
    if at == 5:  # the last event: it never came
        assert parser.response.sequence_number == 4
    else:
        assert parser.response.sequence_number is None
        with pytest.raises(trigate.StructureError):
            parser.resume()


def test_an_event_without_a_number_after_a_resume_is_a_fault() -> None:
    script = Script().created().call('{"a":1}', pieces=['{"a"', ":1}"]).end()
    events = blocks(script.data())
    del script.events[2]["sequence_number"]
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(b"".join(events[:3]))
    parser.resume()
    parser.feed(script.data())
    response = parser.finish()
    assert response.status == "failed"
    assert response.error is not None
    assert response.error.code == "event_without_number"
    assert response.released == ()


@pytest.mark.parametrize("spoil", ["left out", "same as before"])
def test_ids_must_tell_each_event(spoil: str) -> None:
    events = list(NUMBERED["chat with ids"].events)
    later = events[2].partition(b"\n")[2]
    events[2] = later if spoil == "left out" else b"id: n0\n" + later
    parser = trigate.ResponseParser("openai-chat")
    parser.feed(b"".join(events[:4]))
    assert parser.response.last_event_id is None
    with pytest.raises(trigate.StructureError):
        parser.resume()
    # The same on the second connection.
    parser = trigate.ResponseParser("openai-chat")
    parser.feed(b"".join(events[:2]))
    parser.resume()
    parser.feed(b"".join(events[2:]))
    response = parser.finish()
    assert response.error is not None or codes(response).count("repeated_event") == 1
    assert response.status == ("failed" if spoil == "left out" else "completed")


def test_pings_need_no_number() -> None:
    for name, ping in (
        ("responses", b'event: keepalive\ndata: {"type":"keepalive"}\n\n'),
        ("messages with ids", b'event: ping\ndata: {"type": "ping"}\n\n'),
        ("chat with ids", b": ping\n\n"),
    ):
        numbered = NUMBERED[name]
        parser = trigate.ResponseParser(numbered.protocol)
        parser.feed(numbered.events[0] + ping + numbered.events[1] + ping)
        parser.resume()
        parser.feed(ping + ping.join(numbered.events))
        assert same(parser.finish(), numbered.whole)


def test_another_response_is_a_conflict() -> None:
    """A request that was made again is answered by another response, which counts from 0 again."""
    parser, _ = NUMBERED["responses"].begin_with(6)
    parser.resume()
    parser.feed(Script().created(id="resp_2").call("{}").end().data())
    response = parser.finish()
    assert response.status == "conflict"
    assert response.error is not None
    assert response.error.code == "response_restarted"


def test_a_gap_inside_arguments_is_a_conflict() -> None:
    numbered = NUMBERED["responses"]
    parser, _ = numbered.begin_with(9)
    parser.resume()
    parser.feed(b"".join(numbered.events[10:]))
    assert parser.finish().status == "conflict"


def test_what_is_over_cannot_be_resumed() -> None:
    numbered = NUMBERED["responses"]
    for data in (numbered.data, b"data: {\n\n", numbered.data[:300] + b"data: {\n\n"):
        parser = trigate.ResponseParser(PROTOCOL)
        parser.feed(data)
        with pytest.raises(ValueError, match="nothing to resume"):
            parser.resume()
        response = parser.finish()
        with pytest.raises(ValueError, match="nothing to resume"):
            parser.resume()
        assert parser.finish() is response
        with pytest.raises(ValueError, match="nothing to resume"):
            trigate.resume_point(response)


def test_where_nothing_came_everything_is_new() -> None:
    for protocol in trigate.PROTOCOLS:
        parser = trigate.ResponseParser(protocol)
        parser.feed(b"\n")
        parser.resume()
        assert parser.finish().status == "truncated"
        parser.resume()
    parser = trigate.ResponseParser("openai-chat")
    parser.finish()
    parser.resume()
    parser.feed(NUMBERED["chat with ids"].data)
    assert parser.finish().status == "completed"


def test_remembered_ids_have_a_bound() -> None:
    """Past it the stream goes on, but could not be resumed."""
    limits = trigate.Limits(max_response_bytes=2000)
    parser = trigate.ResponseParser("openai-chat", limits=limits)
    for at in range(40):
        parser.feed(b'id: x%d\ndata: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n' % at)
    assert parser.response.last_event_id is None
    assert parser.response.error is None
    assert len(parser.response.text) == 40


# -- the point ---------------------------------------------------------------------------------------------


def test_what_the_next_request_says() -> None:
    parser, _ = NUMBERED["responses"].begin_with(6)
    point = trigate.resume_point(parser.response)
    assert (point.response_id, point.sequence_number, point.last_event_id) == ("resp_1", 5, None)
    assert (point.params, point.headers) == ({"stream": "true", "starting_after": "5"}, {})
    parser, _ = NUMBERED["interactions"].begin_with(3)
    point = trigate.resume_point(parser.response)
    assert (point.params, point.headers) == ({"stream": "true", "last_event_id": "e2"}, {})
    parser, _ = NUMBERED["chat with ids"].begin_with(3)
    point = trigate.resume_point(parser.response)
    assert (point.params, point.headers) == ({}, {"Last-Event-ID": "n2"})


def test_an_event_that_is_not_whole_does_not_move_the_point() -> None:
    numbered = NUMBERED["chat with ids"]
    parser, _ = numbered.begin_with(3, more=numbered.events[3][:-1])
    assert parser.finish().last_event_id == "n2"


def test_pieces_that_are_not_read_move_the_point() -> None:
    """The core counts for itself what it takes unread."""
    script = Script().created().added(0, function_item("", status="in_progress"))
    for piece in "abcdefgh":
        script.delta(0, piece)
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(script.data())
    assert parser.response.sequence_number == 9
    assert trigate.resume_point(parser.finish()).sequence_number == 9


# -- with sources ------------------------------------------------------------------------------------------


def test_a_source_goes_on_with_the_parser_of_the_one_before() -> None:
    numbered = NUMBERED["responses"]
    first = trigate.iter_items(b"".join(numbered.events[:6]), PROTOCOL)
    items = list(first)
    assert first.response.status == "truncated"
    second = trigate.iter_items(numbered.data, parser=first.parser)
    items += second
    assert same(second.response, numbered.whole)
    assert started(items) == started(trigate.iter_items(numbered.data, PROTOCOL))

    async def later() -> trigate.Response:
        begun = trigate.aiter_items(b"".join(numbered.events[:6]), PROTOCOL)
        assert [item async for item in begun]
        gone_on = trigate.aiter_items(numbered.data, parser=begun.parser)
        assert [item async for item in gone_on]
        return gone_on.response

    assert same(asyncio.run(later()), numbered.whole)


def test_a_parser_has_its_own_options() -> None:
    parser = trigate.ResponseParser(PROTOCOL)
    for options in ({"protocol": "openai-chat"}, {"strict": True}):
        with pytest.raises(TypeError, match="own protocol and options"):
            trigate.iter_items(b"", parser=parser, **options)


def test_a_parser_that_is_not_over_goes_on_with_the_same_connection() -> None:
    numbered = NUMBERED["responses"]
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(numbered.data[:333])
    stream = trigate.iter_items(numbered.data[333:], parser=parser)
    assert list(stream)
    assert stream.response == numbered.whole


def test_ids_are_no_events() -> None:
    """An id before data that never come is no event that was taken."""
    data = with_ids(NUMBERED["chat with ids"].events[0].partition(b"\n")[2])
    parser = trigate.ResponseParser("openai-chat")
    parser.feed(data + b"id: later\n\n")
    assert parser.finish().last_event_id == "n0"
