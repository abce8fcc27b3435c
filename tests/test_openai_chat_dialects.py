"""Chat completions, dialects: text, reasoning, refusals, usage, and the habits of single servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trigate
from openai_chat_streams import (
    DONE,
    PROTOCOL,
    call,
    chunk,
    codes,
    delta,
    finish,
    parse,
    piece,
    run,
    text,
    tools,
    usage,
    verdict,
    wire,
)

GO = ("call_1", "go", '{"n":1}', None)


def thinking(*pieces: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": each} for each in pieces]}


# -- text, reasoning, refusal ------------------------------------------------------------------------


def test_text_in_pieces_with_what_means_nothing_between() -> None:
    response = parse(
        delta(role="assistant", content=""),
        text("H"),
        delta(role="assistant", content=None),
        delta(content="i", audio={"data": "x"}),
        chunk({"index": 0, "delta": None, "finish_reason": None}),
        chunk(
            {"index": 0, "delta": {}, "logprobs": {"content": []}, "finish_reason": None}, obfuscation="xyz"
        ),
        finish("stop", stop_reason=7, matched_stop=2),
        DONE,
    )
    assert (response.status, response.text, response.anomalies) == ("completed", "Hi", ())


def test_items_come_in_stream_order() -> None:
    items, response = run([wire(delta(reasoning_content="hm"), text("Hi"), call(), finish(), usage(), DONE)])
    assert [type(item).__name__ for item in items] == [
        "ReasoningDelta",
        "TextDelta",
        "ToolCallStarted",
        "ArgumentsDelta",
        "ToolCallDone",
        "UsageUpdate",
        "ResponseEnded",
    ]
    last = items[-1]
    assert isinstance(last, trigate.ResponseEnded)
    assert last.response.released == response.released != ()


@pytest.mark.parametrize("member", ["reasoning_content", "reasoning"])
def test_reasoning_under_either_name(member: str) -> None:
    response = parse(
        delta(**{member: "a"}), delta(**{member: None}), delta(**{member: "b"}), finish("stop"), DONE
    )
    assert (response.reasoning, response.text, response.anomalies) == ("ab", "", ())


def test_reasoning_that_comes_twice_counts_once() -> None:
    details = [{"type": "reasoning.text", "text": "a", "index": 0}]
    response = parse(
        delta(reasoning="a", reasoning_content="a", reasoning_details=details),
        delta(reasoning="b", reasoning_details=[]),
        delta(reasoning_content="c", content=[thinking("c")]),
        finish("stop"),
        DONE,
    )
    assert (response.reasoning, response.anomalies) == ("abc", ())


def test_reasoning_that_differs_from_itself_is_noted() -> None:
    response = parse(delta(reasoning="a", reasoning_content="b"), finish("stop"), DONE)
    assert (response.reasoning, codes(response)) == ("b", ["reasoning_differs"])


def test_reasoning_details_alone() -> None:
    details = [
        {"type": "reasoning.summary", "summary": "a", "index": 0},
        {"type": "reasoning.encrypted", "data": "xx", "index": 1},
        {"type": "reasoning.text", "text": "b", "signature": None, "index": 2},
    ]
    assert parse(delta(reasoning_details=details), finish("stop"), DONE).reasoning == "ab"


def test_a_content_list() -> None:
    parts = [thinking("h", "m"), {"type": "text", "text": "H"}, {"type": "reference", "reference_ids": [1]}]
    response = parse(
        delta(content=parts), delta(content=[{"type": "text", "text": "i"}]), finish("stop"), DONE
    )
    assert (response.reasoning, response.text, response.anomalies) == ("hm", "Hi", ())


def test_an_unknown_content_part_is_noted() -> None:
    chunks = [delta(content=[{"type": "hologram"}]), text("x"), finish("stop")]
    response = parse(*chunks, DONE)
    assert (response.text, codes(response)) == ("x", ["unknown_type"])
    assert parse(*chunks, DONE, strict=True).status == "failed"


def test_a_refusal_is_text_of_its_own() -> None:
    response = parse(delta(refusal="I'm "), delta(refusal="sorry"), finish("stop"), DONE)
    assert (response.status, response.refusal, response.text) == ("completed", "I'm sorry", "")


def test_legacy_completions_are_read_as_text() -> None:
    def legacy(piece: str, end: str | None = None) -> dict[str, Any]:
        return {
            "id": "cmpl-1",
            "object": "text_completion",
            "choices": [{"text": piece, "index": 0, "finish_reason": end}],
        }

    response = parse(legacy("H"), legacy("i"), legacy("", "length"), DONE)
    assert (response.status, response.reason, response.text) == ("incomplete", "length", "Hi")


def test_text_beside_a_delta_is_the_same_text() -> None:
    """Together sends both."""
    both = chunk({"index": 0, "text": "Hi", "delta": {"content": "Hi"}, "finish_reason": "stop"})
    assert parse(both, DONE).text == "Hi"


def test_half_a_character_waits_for_the_other_half() -> None:
    data = wire(text("@"), text("#"), finish("stop"), DONE)
    response = trigate.parse(data.replace(b"@", b"a\\ud83d").replace(b"#", b"\\ude00b"), PROTOCOL)
    assert response.text == "a😀b"


# -- usage and identity ------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_usage_may_come_anywhere_before_the_sentinel(place: int) -> None:
    chunks = [text("Hi"), call(), finish()]
    response = parse(*chunks[:place], usage(), *chunks[place:], DONE)
    assert verdict(response) == [GO]
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens) == (
        3,
        2,
        5,
    )


@pytest.mark.parametrize(
    ("raw", "cached", "reasoning"),
    [
        (
            {
                "prompt_tokens_details": {"cached_tokens": 1},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            1,
            2,
        ),
        ({"prompt_tokens_details": None, "prompt_cache_hit_tokens": 1, "reasoning_tokens": 2}, 1, 2),
        ({"cached_tokens": 1}, 1, None),
        ({"prompt_tokens_details": {"cached_tokens": True}}, None, None),
    ],
)
def test_usage_in_its_spellings(raw: dict[str, Any], cached: int | None, reasoning: int | None) -> None:
    response = parse(finish("stop"), usage(**raw), DONE)
    assert response.usage is not None
    assert (response.usage.cached_tokens, response.usage.reasoning_tokens) == (cached, reasoning)
    assert response.usage.raw is not None
    assert raw.items() <= response.usage.raw.items()


@pytest.mark.parametrize(
    "last",
    [
        chunk({"index": 0, "delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 4}}),
        finish("stop") | {"x_groq": {"id": "r", "usage": {"prompt_tokens": 4}}},
        finish("stop") | {"usage": {"prompt_tokens": 4}, "x_groq": {"usage": {"prompt_tokens": 9}}},
    ],
)
def test_usage_in_other_places(last: dict[str, Any]) -> None:
    response = parse(text("Hi"), last, DONE)
    assert response.usage is not None
    assert response.usage.input_tokens == 4


def test_usage_on_every_chunk_is_told_when_it_changes() -> None:
    counted = [text("a") | {"usage": {"completion_tokens": at}} for at in (1, 2, 2)]
    items, response = run([wire(*counted, finish("stop") | {"usage": None}, DONE)])
    told = [item.usage.output_tokens for item in items if isinstance(item, trigate.UsageUpdate)]
    assert told == [1, 2]
    assert response.usage is not None
    assert response.usage.output_tokens == 2


def test_tokens_that_brought_nothing_are_noted() -> None:
    response = parse(delta(content=""), finish("stop"), usage(), DONE)
    assert (response.status, codes(response)) == ("completed", ["usage_without_content"])


def test_id_and_model_are_the_first_that_are_not_empty() -> None:
    head = chunk() | {"id": "", "model": "", "object": "", "prompt_filter_results": []}
    response = parse(head, text("Hi"), finish("stop"), DONE)
    assert (response.id, response.model, response.anomalies) == ("chatcmpl-1", "m", ())


def test_an_id_that_changes_is_noted_once() -> None:
    chunks = [text("x") | {"id": f"gen-{at}"} for at in range(4)]
    response = parse(*chunks, finish("stop") | {"id": "gen-9"}, DONE)
    assert (response.id, codes(response)) == ("gen-0", ["response_id_changed"])


# -- servers -----------------------------------------------------------------------------------------


def test_azure_odd_chunks() -> None:
    response = parse(
        {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": [{}]},
        call('{"n":'),
        chunk(
            {"index": 0, "finish_reason": None, "content_filter_results": {}, "content_filter_offsets": {}}
        ),
        tools(piece("1}", index=0)),
        finish(content_filter_results={}),
        chunk({"index": 0, "content_filter_results": {}, "finish_reason": None}) | {"id": ""},
        DONE,
    )
    assert (verdict(response), response.anomalies) == ([GO], ())


def test_ollama_hides_a_failure_in_an_empty_chunk() -> None:
    empty = {"id": "", "object": "", "created": 0, "model": "", "system_fingerprint": "", "choices": None}
    response = parse(call(), empty)
    assert (response.status, response.released) == ("truncated", ())
    assert codes(response) == ["empty_chunk"]


def test_qwen_later_fragments_have_empty_ids_and_the_last_is_empty() -> None:
    later = {"index": 0, "id": "", "type": "function", "function": {"name": None, "arguments": "1}"}}
    last = {"index": 0, "id": "", "type": "function", "function": {}}
    response = parse(call('{"n":'), tools(later), tools(last), finish(), usage(), DONE)
    assert (verdict(response), response.anomalies) == ([GO], ())


@pytest.mark.parametrize("arguments", ['{"n":1}', {"n": 1}])
def test_mistral_whole_call_beside_the_finish(arguments: Any) -> None:
    fragment = {"id": "D681PevKs", "function": {"name": "go", "arguments": arguments}, "index": 0}
    data = delta(end="tool_calls", content="", tool_calls=[fragment]) | {
        "usage": {"total_tokens": 5},
        "p": "abc",
    }
    (released,) = parse(data, DONE).released
    assert (released.call_id, released.value()) == ("D681PevKs", {"n": 1})


def test_mistral_fragments_whose_later_ids_are_null() -> None:
    later = [piece(part, "", index=0, id="null") for part in ('{"n"', ":1}")]
    response = parse(call("", call_id="D681PevKs"), *(tools(each) for each in later), finish(), DONE)
    assert verdict(response) == [("D681PevKs", "go", '{"n":1}', None)]


def test_gemini_whole_calls_without_index_and_a_stop() -> None:
    first = {"id": "a", "type": "function", "function": {"name": "go", "arguments": '{"n":1}'}}
    response = parse(tools(first), tools(first | {"id": "b"}, end="stop"), DONE)
    assert (response.status, response.reason) == ("completed", "stop")
    assert [each.call_id for each in response.released] == ["a", "b"]


def test_groq_and_xai_whole_calls() -> None:
    response = parse(call(call_id="a"), call(call_id="b", index=1), finish(), usage(), DONE)
    assert [each.call_id for each in response.released] == ["a", "b"]


def test_openrouter_comments_and_second_finish() -> None:
    pause = ": OPENROUTER PROCESSING\n\n"
    last = finish(native_finish_reason="tool_use")
    response = parse(
        pause, pause, call('{"n":'), pause, tools(piece("1}", index=0)), last, last | usage(), DONE
    )
    assert (verdict(response), response.anomalies) == ([GO], ())


def test_perplexity_sends_whole_messages_beside_the_deltas() -> None:
    def both(piece: str, whole: str, end: str | None = None) -> dict[str, Any]:
        message = {"role": "assistant", "content": whole}
        return chunk({"index": 0, "delta": {"content": piece}, "message": message, "finish_reason": end})

    last = both("", "Hi", "stop") | {"object": "chat.completion.done"}
    response = parse(both("H", "H"), both("i", "Hi"), last)
    assert (response.status, response.text, codes(response)) == ("completed", "Hi", ["missing_sentinel"])


@pytest.mark.parametrize("name", ["ping", "keepalive", "keep-alive"])
def test_pings_are_noise(name: str) -> None:
    pings = [f"event: {name}\ndata: x\n\n", f'data: {{"type":"{name}"}}\n\n', ":\n\n", "data:\n\n"]
    response = parse(
        *pings, call('{"n":'), *pings, tools(piece("1}", index=0)), finish(), *pings, DONE, *pings
    )
    assert (verdict(response), codes(response)) == ([GO], ["event_after_end"])


@pytest.mark.parametrize(
    "block",
    ['event: tool.progress\ndata: {"tool":"x"}\n\n', "event: note\ndata: hi\n\n", 'data: {"foo":1}\n\n'],
)
def test_an_unknown_event_is_handed_on(block: str) -> None:
    items, response = run([wire(call('{"n":'), block, tools(piece("1}", index=0)), finish(), DONE)])
    assert (verdict(response), codes(response)) == ([GO], ["unknown_type"])
    (other,) = (item for item in items if isinstance(item, trigate.OtherEvent))
    assert other.data in block
    assert parse(call(), block, finish(), DONE, strict=True).status == "failed"


def test_a_named_chunk_is_a_chunk() -> None:
    named = "".join(
        f"event: completion.chunk\n{wire(each).decode()}" for each in (text("Hi"), finish("stop"))
    )
    response = parse(named, DONE)
    assert (response.status, response.text, response.anomalies) == ("completed", "Hi", ())


def test_several_data_lines_are_one_chunk() -> None:
    lines = json.dumps(text("Hi"), indent=1).replace("\n", "\ndata: ")
    assert parse(f"data: {lines}\n\n", finish("stop"), DONE).text == "Hi"


@pytest.mark.parametrize(
    "first",
    [
        text("Hi"),
        {"id": "", "object": "", "choices": [], "prompt_filter_results": []},
        {"object": "chat.completion.chunk"},
        {"id": "x", "object": "text_completion", "choices": [{"index": 0, "text": "a"}]},
        {"choices": None},
    ],
)
def test_auto_knows_the_first_chunk(first: dict[str, Any]) -> None:
    data = wire(": wait\n\n", first, call(), finish(), DONE)
    response = trigate.parse(data)
    assert (response.protocol, response) == (PROTOCOL, trigate.parse(data, PROTOCOL))
    assert verdict(response) == [GO]
