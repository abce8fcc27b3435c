"""Recorded chat completions, and described faults of real products: the index and the cases are right.

Rules
 - Where the index counts less as an end than trigate does, or more, DIFFERS says which rule decides.
 - A stream that is cut before the finish of its choices is truncated, and releases nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

import trigate
from openai_chat_streams import PROTOCOL, codes, finish, run, text, wire
from recorded import cases, corpus_entries, corpus_stream, needs_cases, needs_corpus
from streams import Chunks, bytewise, every_two_cut, joined, of_size, seeded_cuts, typical_cuts

ENTRIES = [*corpus_entries(PROTOCOL), *corpus_entries("openai-completions")]
CASES = cases(PROTOCOL)

SMALL = 8 * 1024
#: Longer recordings are cut into fewer chunks: what is special about them is short.
LONG = 128 * 1024

OUTCOMES = {"completed": "completed", "error": "failed", "incomplete(max_tokens)": "incomplete"}
#: (status, reason) where they are not what the index says.
DIFFERS = {
    # The server's failure comes in a line "error: {...}": no SSE field, but all that llama.cpp says.
    "gpustack_qwen3_think-text-truncated_0cc3.sse": ("failed", None),
    # [DONE] without any finish_reason: the sentinel ends the transport, and says nothing of the reply.
    "snowflake_claude-sonnet-4-6_text_c3a8.sse": ("truncated", None),
    # The second choice never finished, so nobody knows whether it is whole.
    "litellm-proxy_gpt-3.5-turbo_text_5cc4.sse": ("truncated", None),
}
#: What is tolerated in recordings.
ANOMALIES = {
    "anthropic-compat_claude-haiku-4-5_1call_ecd0.sse": ["missing_sentinel"],
    "perplexity_sonar_text_874b.sse": ["missing_sentinel"],
    "avian_kimi-k2.5_1call-think_d1b9.sse": ["response_id_changed"],
    "avian_kimi-k2.5_2calls-think_5c71.sse": ["response_id_changed"],
}


def name_of(entry: dict[str, Any]) -> str:
    name: str = entry["file"].rpartition("/")[2]
    return name


entry_of = pytest.mark.parametrize("entry", ENTRIES, ids=name_of)


# -- recordings --------------------------------------------------------------------------------------


def check(response: trigate.Response, entry: dict[str, Any]) -> None:
    assert [(each.call_id, each.name, each.arguments) for each in response.calls] == [
        (each["id"], each["name"], each["arguments"]) for each in entry["tool_calls"]
    ]
    text = "".join(response.texts)
    assert len(text) == entry["text_len"]
    assert hashlib.sha256(text.encode()).hexdigest() == entry["text_sha256"]
    assert len(response.reasoning) == entry["reasoning_len"]
    assert len(response.refusal) == entry["refusal_len"]
    expected = DIFFERS.get(name_of(entry)) or (OUTCOMES[entry["outcome"]], entry["finish"])
    assert (response.status, response.reason) == expected
    assert response.released == (response.calls if response.status == "completed" else ())
    assert codes(response) == ANOMALIES.get(name_of(entry), [])
    lost = response.status == "truncated" or "missing_sentinel" in codes(response)
    assert response.clean_end is not lost
    if "error" in entry:
        assert response.error is not None
        assert response.error.message == entry["error"]["message"]
        assert response.error.raw["error"] == entry["error"]


def cuts_of(data: bytes) -> Iterator[Chunks]:
    if len(data) <= LONG:
        yield from typical_cuts(data)
        return
    for size in (1, 1460):
        yield of_size(data, size)
    yield from seeded_cuts(data, 20)


@needs_corpus
def test_the_corpus_is_whole() -> None:
    assert len(ENTRIES) == 46
    assert {name_of(entry) for entry in ENTRIES} >= DIFFERS.keys() | ANOMALIES.keys()
    for entry in ENTRIES:
        assert hashlib.sha256(corpus_stream(entry["file"])).hexdigest() == entry["sha256"]


@needs_corpus
@entry_of
def test_every_kind_of_cut(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    items, whole = run([data])
    check(whole, entry)
    for chunks in cuts_of(data):
        parts, response = run(chunks)
        assert response == whole
        assert joined(parts) == joined(items)


@needs_corpus
@entry_of
def test_options_that_change_nothing(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    whole = trigate.parse(data, PROTOCOL)
    assert trigate.parse(data, PROTOCOL, deltas=False) == whole
    assert trigate.parse(data, "auto") == whole
    early = trigate.parse(data, PROTOCOL, release_on="call")
    assert replace(early, decisions=()) == replace(whole, decisions=())  # only the moment of release differs


@needs_corpus
@entry_of
def test_items_carry_the_same_text_as_the_response(entry: dict[str, Any]) -> None:
    items, response = run([corpus_stream(entry["file"])])
    for choice, said in enumerate(response.texts):
        told = (item for item in items if isinstance(item, trigate.TextDelta) and item.index == choice)
        assert "".join(item.text for item in told) == said
    thought = (item.text for item in items if isinstance(item, trigate.ReasoningDelta))
    assert "".join(thought) == response.reasoning
    for each in response.calls:
        pieces = (item for item in items if isinstance(item, trigate.ArgumentsDelta))
        shown = (item.text for item in pieces if item.call.wire_key == each.wire_key)
        assert "".join(shown) == each.arguments


@needs_corpus
@entry_of
def test_the_assistants_message_repeats_what_came(entry: dict[str, Any]) -> None:
    response = trigate.parse(corpus_stream(entry["file"]), PROTOCOL)
    message = response.to_message()
    assert (message["content"] or "") == response.text
    sent = [(each["id"], each["function"]["name"]) for each in message.get("tool_calls", ())]
    # One recording has two choices: the message is the first one's.
    wanted = [(each.call_id, each.name) for each in response.released if each.wire_key[0] == 0]
    assert sent == wanted
    if "delta.reasoning_content" in entry["oddities"] and response.reasoning:
        assert message["reasoning_content"] == response.reasoning
    if "delta.reasoning_details" in entry["oddities"]:
        inner = [part.get("text") or part.get("summary") or "" for part in message["reasoning_details"]]
        assert "".join(inner) == response.reasoning


# -- prefixes ----------------------------------------------------------------------------------------


def finishes(data: bytes) -> list[int]:
    """Where the first choice has finished, and where all of them have, by a plain reading of the lines.

    An event is over at the CR of its blank line.
    """
    seen: dict[int, bool] = {}
    ends: list[int] = []
    lines = data.splitlines(keepends=True)
    position = 0
    for line, after in zip(lines, [*lines[1:], b""], strict=True):
        position += len(line)
        payload = line.removeprefix(b"data:").strip()
        if not line.startswith(b"data:") or not payload.startswith(b"{"):
            continue
        for choice in json.loads(payload).get("choices") or ():
            seen[choice["index"]] = seen.get(choice["index"], False) or bool(choice.get("finish_reason"))
        if any(seen.values()) and not ends:
            ends.append(position + len(after.rstrip(b"\n") or after))
        if seen and all(seen.values()):
            return [*ends, position + len(after.rstrip(b"\n") or after)]
    return [ends[0] if ends else len(data), len(data)]


def check_prefix(data: bytes, length: int, first: int, end: int) -> None:
    response = trigate.parse(data[:length], PROTOCOL)
    if length < end:
        assert response.status == "truncated"
        assert not response.clean_end
        assert response.error is not None
        assert (response.error.layer, response.error.offset) == ("transport", length)
    if length < end or response.status != "completed":
        assert response.released == ()
    else:
        assert response.released == trigate.parse(data, PROTOCOL).released
    if length < first:
        assert trigate.parse(data[:length], PROTOCOL, release_on="call").released == ()


def prefix_lengths(data: bytes, end: int) -> set[int]:
    """Every one of a short stream; of a longer one, those around the finish and some before it."""
    if len(data) <= SMALL:
        return set(range(len(data)))
    if len(data) <= LONG:
        return {*range(max(0, end - 300), min(end + 300, len(data))), *range(0, end, max(1, end // 40))}
    return {end - 400, end - 2, end - 1, end, min(end + 30, len(data))}


def test_where_the_choices_finish() -> None:
    ends = [finish(choice=0), finish(choice=1)]
    data = wire(text("a"), text("b", 1), *ends)
    places = [len(wire(text("a"), text("b", 1), ends[0])), len(data)]
    assert finishes(data + b"data: [DONE]\n\n") == places
    windows = data.replace(b"\n", b"\r\n")
    assert finishes(windows) == [places[0] + 6 - 1, places[1] + 8 - 1]
    assert finishes(wire(text("a"))) == [len(wire(text("a")))] * 2


@needs_corpus
@entry_of
def test_no_prefix_releases_anything_before_the_finish(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    broken = [data.find(mark) for mark in (b"event: error", b"\nerror: ") if mark in data]
    first, end = (*broken, *broken) if broken else finishes(data)
    for length in prefix_lengths(data, end):
        check_prefix(data, length, first, end)


# -- cases -------------------------------------------------------------------------------------------

STATUSES = {"complete": "completed", "failed": "failed", "conflict": "conflict"}
PROBLEMS = {
    "incomplete": {"incomplete"},
    "malformed": {"malformed"},
    "conflict": {"conflict", "duplicate_key"},
    "complete": {"incomplete", "response_not_completed"},  # whole text, but no end that proves it
}


def case_name(case: dict[str, Any]) -> str:
    return f"{case['n']}-{case['kind']}"


def chunks_of(case: dict[str, Any]) -> Chunks:
    assert case["encoding"] == "latin-1"
    return [chunk.encode("latin-1") for chunk in case["chunks"]]


def check_case(response: trigate.Response, expect: dict[str, Any]) -> None:
    if expect["outcome"] == "truncated":
        assert response.status == ("incomplete" if expect["finish"] else "truncated")
    else:
        assert response.status == STATUSES[expect["outcome"]]
    assert response.reason == expect["finish"]
    assert response.text == expect["text"]
    assert [each.call_id for each in response.calls] == [each["id"] for each in expect["calls"]]
    for each, wanted in zip(response.calls, expect["calls"], strict=True):
        check_call(each, wanted)
    for index, said in expect.get("texts", {}).items():
        assert response.texts[int(index)] == said
    if "usage" in expect:
        assert response.usage is not None
        assert response.usage.raw == expect["usage"]
    for member, value in expect.get("error", {}).items():
        assert getattr(response.error, member) == value
    for orphan in expect.get("orphans", ()):
        assert any(orphan["arguments"] in anomaly.detail for anomaly in response.anomalies)


def check_call(call: trigate.ToolCall, wanted: dict[str, Any]) -> None:
    assert call.name == wanted["name"]
    if wanted.get("arguments_compare") == "json":
        assert json.loads(call.arguments) == json.loads(wanted["arguments"])
    else:
        assert call.arguments == wanted["arguments"]
    assert (call.state == "released") is wanted["executable"]
    assert call.wire_key[0] == wanted.get("choice", 0)
    if isinstance(call, trigate.ReleasedCall):
        if "value" in wanted:
            assert call.value() == wanted["value"]
        assert call.flags == tuple(wanted.get("flags", ()))
    else:
        assert call.problem in PROBLEMS[wanted["status"]]


def every_case_cut(case: dict[str, Any]) -> Iterator[Chunks]:
    given = chunks_of(case)
    data = b"".join(given)
    yield given
    yield [data]
    yield bytewise(data)
    yield from every_two_cut(data)
    yield from seeded_cuts(data, case["n"], 3)


@needs_cases
def test_there_are_cases() -> None:
    assert len(CASES) == 31


@needs_cases
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_cases(case: dict[str, Any]) -> None:
    first = trigate.parse(chunks_of(case), PROTOCOL)
    check_case(first, case["expect"])
    for chunks in every_case_cut(case):
        assert trigate.parse(chunks, PROTOCOL) == first


@needs_cases
@pytest.mark.parametrize("case", [case for case in CASES if case["n"] != 25], ids=case_name)
def test_auto_reads_cases_alike(case: dict[str, Any]) -> None:
    data = b"".join(chunks_of(case))
    assert trigate.parse(data, "auto") == trigate.parse(data, PROTOCOL)


LENIENT = {57: "control_characters", 59: "duplicate_keys", 60: "trailing_text"}


@needs_cases
@pytest.mark.parametrize("case", [case for case in CASES if case["n"] in LENIENT], ids=case_name)
def test_what_a_lenient_caller_gets(case: dict[str, Any]) -> None:
    (alternative,) = case["expect"]["alternatives"]
    (released,) = trigate.parse(chunks_of(case), PROTOCOL, lenient={LENIENT[case["n"]]}).released
    assert released.value() == alternative["calls.0.value"]
    assert released.flags == (LENIENT[case["n"]],)


@needs_cases
def test_the_error_is_the_same_beside_an_empty_list_of_choices() -> None:
    (case,) = (case for case in CASES if case["n"] == 23)
    *before, last = chunks_of(case)
    beside = wire(json.loads(last[6:]) | {"choices": []})
    assert trigate.parse([*before, beside], PROTOCOL).error == trigate.parse([*before, last], PROTOCOL).error


@needs_cases
def test_many_small_pieces_make_one_text() -> None:
    (case,) = (case for case in CASES if case["n"] == 62)
    scale = case["scale"]
    head, shape_of_a_piece, *_ = b"".join(chunks_of(case)).split(b"\n\n")
    shape = json.loads(shape_of_a_piece[6:])
    fragment = shape["choices"][0]["delta"]["tool_calls"][0]["function"]
    data = [head + b"\n\n"]
    for piece in (scale["argument_prefix"], *scale["unit"] * scale["times"], scale["argument_suffix"]):
        fragment["arguments"] = piece
        data.append(wire(shape))
    end = chunks_of(case)[-1]
    (released,) = trigate.parse([*data, end], PROTOCOL).released
    assert len(released.value()["c"]) == scale["expect"]["value_length"]
