"""Ten thousand open streams fit in 100 MiB, an idle parser in 4 KiB, and a delta adds its text alone."""

from __future__ import annotations

import pytest

import matrix_streams
import trigate
import weights

#: A ten-thousandth of 100 MiB.
OPEN = 100 * 1024 * 1024 // 10_000
#: The framing's decoder and what the core holds for prediction are in it, as Python objects.
FRESH_TRACED = 3200
#: Without what the core holds beside its objects: texts, templates.
OPEN_TRACED = 8192
of_turns = pytest.mark.parametrize(
    "protocol", ["openai-responses", "openai-chat", "anthropic-messages", "gemini"]
)
sees_all = pytest.mark.skipif(
    not weights.CAN_SEE_ALL, reason="no checkout, or a C library that does not tell what it has lent"
)


@pytest.mark.parametrize("protocol", [*trigate.PROTOCOLS, "auto"])
def test_a_fresh_parser(protocol: str) -> None:
    assert weights.traced(protocol, []) <= FRESH_TRACED


@pytest.mark.parametrize("protocol", matrix_streams.PROTOCOLS)
def test_an_open_stream_of_each_protocol(protocol: str) -> None:
    chunks = weights.cut_in_call(protocol)
    response = weights.fed(protocol, chunks).response
    assert response.status == "in_progress"
    assert response.calls
    assert weights.traced(protocol, chunks) <= OPEN_TRACED


@sees_all
@of_turns
def test_ten_thousand_open_streams(protocol: str) -> None:
    assert weights.allocated("open", protocol) <= OPEN


@sees_all
@of_turns
def test_a_delta_adds_its_text_alone(protocol: str) -> None:
    """But for the borders of Gemini's parts, which go back as they came."""
    assert weights.allocated("growth", protocol) <= (10 if protocol == "gemini" else 0)
