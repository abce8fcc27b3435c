"""trigate against the slow, literal readers of tests/model: recorded, described and generated streams.

Rules
 - Equal are: status, the wire's reason, the text, the tokens, and each call with its id, name, arguments and release.
 - Where a provider's error ended the turn its word is the error's own, which the readers do not keep.
 - What a turn in conflict shows of its arguments is for people alone: there they are not compared.
 - Arguments that are objects on the wire (Gemini, Ollama, builtin tools) are compared by value, others as text.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trigate
from model import READERS, Outcome, Read
from model.frames import join
from model.generate import turns
from recorded import cases, corpus_entries, corpus_stream, needs_cases, needs_corpus

#: The names of protocols as the corpus's index and the cases have them.
RECORDED = {"ollama-chat": "ollama", "cohere-chat": "cohere-v2"}
DESCRIBED = {"ollama-chat": "ollama-ndjson"}
BY_VALUE = {"gemini", "ollama-chat", "gemini-interactions"}
PROTOCOLS = sorted(READERS)

protocols = pytest.mark.parametrize("protocol", PROTOCOLS)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return ("no JSON", text)


def _arguments(protocol: str, status: str, text: str, *, builtin: bool) -> Any:
    if status == "conflict":
        return None
    return _value(text) if builtin or protocol in BY_VALUE else text


def of_model(protocol: str, outcome: Outcome, builtin: list[bool]) -> dict[str, Any]:
    def call(read: Read, is_builtin: bool) -> tuple[Any, ...]:
        return (
            read.call_id,
            read.name,
            _arguments(protocol, outcome.status, read.arguments, builtin=is_builtin),
            read.released,
        )

    return {
        "status": outcome.status,
        "reason": outcome.reason,
        "calls": [call(*pair) for pair in zip(outcome.calls, builtin, strict=True)],
        "text": outcome.text,
        "usage": outcome.usage and tuple(outcome.usage),
    }


def of_trigate(protocol: str, response: trigate.Response, *, by_error: bool) -> dict[str, Any]:
    usage = response.usage
    return {
        "status": response.status,
        "reason": None if by_error else response.reason,
        "calls": [
            (
                call.call_id,
                call.name,
                _arguments(protocol, response.status, call.arguments, builtin=call.kind == "builtin"),
                isinstance(call, trigate.ReleasedCall),
            )
            for call in response.calls
        ],
        "text": response.text,
        "usage": usage
        and (
            usage.input_tokens,
            usage.output_tokens,
            usage.total_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens,
        ),
    }


def check(protocol: str, data: bytes) -> Outcome:
    outcome = READERS[protocol](data)
    response = trigate.parse(data, protocol)
    assert len(response.calls) == len(outcome.calls)
    builtin = [call.kind == "builtin" for call in response.calls]
    expected = of_model(protocol, outcome, builtin)
    assert of_trigate(protocol, response, by_error=outcome.by_error) == expected
    return outcome


def _recorded() -> list[tuple[str, str]]:
    return [
        (protocol, entry["file"])
        for protocol in PROTOCOLS
        for entry in corpus_entries(RECORDED.get(protocol, protocol))
    ]


def _described() -> list[tuple[str, dict[str, Any]]]:
    return [(protocol, case) for protocol in PROTOCOLS for case in cases(DESCRIBED.get(protocol, protocol))]


@needs_corpus
def test_every_protocol_has_recordings() -> None:
    assert {protocol for protocol, _ in _recorded()} == set(PROTOCOLS)


@needs_corpus
@pytest.mark.parametrize(("protocol", "file"), _recorded(), ids=lambda value: value)
def test_recorded(protocol: str, file: str) -> None:
    check(protocol, corpus_stream(file))


@needs_corpus
@protocols
def test_recorded_and_cut(protocol: str) -> None:
    """Each small recording ended early, at places of every kind: nothing is released of what has no end."""
    released = 0
    for entry in corpus_entries(RECORDED.get(protocol, protocol))[:6]:
        data = corpus_stream(entry["file"])
        if len(data) > 40_000:
            continue
        for length in range(0, len(data), max(1, len(data) // 23)):
            outcome = check(protocol, data[:length])
            released += any(call.released for call in outcome.calls)
    assert released <= 6  # a cut behind the terminal event leaves a whole turn, once per recording at most


@needs_cases
@pytest.mark.parametrize(
    ("protocol", "case"),
    _described(),
    ids=lambda value: value if isinstance(value, str) else f"{value['n']}-{value['kind']}",
)
def test_described(protocol: str, case: dict[str, Any]) -> None:
    binary = case["encoding"] == "base64"
    data = b"".join(
        base64.b64decode(chunk) if binary else chunk.encode("latin-1") for chunk in case["chunks"]
    )
    check(protocol, data)


@protocols
def test_generated(protocol: str) -> None:
    statuses: dict[str, int] = {}
    released = 0

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(turns(protocol))
    def run(frames: list[bytes]) -> None:
        nonlocal released
        outcome = check(protocol, join(frames))
        statuses[outcome.status] = statuses.get(outcome.status, 0) + 1
        released += sum(call.released for call in outcome.calls)

    run()
    assert len(statuses) >= 3  # of the kinds of end there are; which, is hypothesis's choice
    assert released > 20


@protocols
def test_generated_and_cut(protocol: str) -> None:
    """The same, ended at any byte."""

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(turns(protocol), st.integers(0, 10_000))
    def run(frames: list[bytes], place: int) -> None:
        data = join(frames)
        check(protocol, data[: place % (len(data) + 1)])

    run()
