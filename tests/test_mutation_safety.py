"""Streams damaged in one place: a released call is one of the undamaged stream, or the damage is one no wire can show.

Rules
 - Calls are compared as id, name and argument text, and counted: a call released twice is another call.
 - What the wire cannot show is decided by mutations.py, which knows no parser, and only by the classes that
   CANNOT_SHOW gives the protocol. All else is a fault.
 - COUNTED is what docs/completion.md quotes: of how many mutants of the recordings how many fell in which class.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trigate
from model.frames import join, split
from model.generate import good_turns
from mutations import CANNOT_SHOW, Told, explain, mutants
from recorded import corpus_entries, corpus_stream, needs_corpus

#: The names of protocols as the corpus's index has them.
RECORDED = {"ollama-chat": "ollama", "cohere-chat": "cohere-v2"}
PROTOCOLS = sorted(CANNOT_SHOW)
FLIPS = 400
LARGEST = 9000

#: Mutants of the recordings with calls of up to LARGEST bytes, eight at most: how many, and the calls explained.
COUNTED: dict[str, tuple[int, dict[str, int]]] = {
    "anthropic-messages": (3477, {"value_changed": 85}),
    "bedrock-converse": (459, {"piece_lost": 1}),
    "bedrock-invoke": (539, {"piece_lost": 3, "piece_twice": 3, "pieces_swapped": 2}),
    "cohere-chat": (
        2635,
        {"line_unread": 10, "piece_lost": 12, "piece_twice": 12, "pieces_swapped": 4, "value_changed": 30},
    ),
    "gemini": (
        2993,
        {
            "call_twice": 1,
            "id_lost": 2,
            "line_unread": 5,
            "member_unread": 33,
            "piece_lost": 9,
            "piece_twice": 9,
            "value_changed": 37,
            "value_lost": 1,
        },
    ),
    "gemini-interactions": (444, {"member_unread": 3, "piece_lost": 1, "value_changed": 10}),
    "openai-chat": (
        3487,
        {
            "line_unread": 7,
            "member_unread": 43,
            "piece_lost": 8,
            "piece_twice": 5,
            "pieces_swapped": 3,
            "value_changed": 46,
        },
    ),
    "openai-responses": (3682, {}),
}

protocols = pytest.mark.parametrize("protocol", PROTOCOLS)


def told(protocol: str, data: bytes) -> Counter[Told]:
    released = trigate.parse(data, protocol).released
    return Counter(Told(call.call_id, call.name, call.arguments) for call in released)


def check(protocol: str, stream: list[bytes], seed: int, flips: int) -> tuple[int, Counter[str]]:
    """How many mutants there were, and which classes explain the calls that are not the stream's."""
    before = told(protocol, join(stream))
    count, classes = 0, Counter[str]()
    for mutant in mutants(stream, random.Random(seed), flips):
        count += 1
        for extra in (told(protocol, mutant.data) - before).elements():
            found = explain(protocol, mutant, list(before), extra)
            assert found in CANNOT_SHOW[protocol], (mutant.kind, mutant.before, mutant.after, extra, found)
            classes[found] += 1
    return count, classes


def streams(protocol: str) -> list[list[bytes]]:
    entries = corpus_entries(RECORDED.get(protocol, protocol))
    small = [entry for entry in entries if entry["bytes"] <= LARGEST and entry["tool_calls"]]
    return [split(protocol, corpus_stream(entry["file"])) for entry in small[:8]]


@needs_corpus
@pytest.mark.parametrize("protocol", [protocol for protocol in PROTOCOLS if protocol != "ollama-chat"])
def test_recorded(protocol: str) -> None:
    total, classes = 0, Counter[str]()
    for seed, stream in enumerate(streams(protocol)):
        assert told(protocol, join(stream))
        count, found = check(protocol, stream, seed, FLIPS)
        total += count
        classes += found
    assert (total, dict(sorted(classes.items()))) == COUNTED[protocol]


@needs_corpus
def test_ollama_has_no_recording_with_calls() -> None:
    """So its mutants come from generated turns alone; when one comes, the test above takes it."""
    assert streams("ollama-chat") == []


@protocols
def test_generated(protocol: str) -> None:
    total = 0

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(good_turns(protocol), st.integers(0, 999))
    def run(stream: list[bytes], seed: int) -> None:
        nonlocal total
        count, _ = check(protocol, stream, seed, 60)
        total += count

    run()
    assert total > 2000


def test_the_responses_wire_shows_all_of_it() -> None:
    """Four copies of each text and a number on each event: there is no class, and none is needed."""
    assert CANNOT_SHOW["openai-responses"] == {}


def test_checksums_show_every_flipped_bit() -> None:
    flips = {"value_changed", "member_unread", "line_unread", "id_lost"}
    for protocol in ("bedrock-converse", "bedrock-invoke"):
        assert not flips & set(CANNOT_SHOW[protocol])
