"""The cut matrix: every way to cut or spoil a turn, in every protocol, and what must come of it, cell by cell.

Rules
 - A cell names the status and, for each call that was seen, `released` or the problem that keeps it from running.
 - A cell that a wire cannot have stands in NOT_ON_WIRE with its reason: a cell is in one of the two places, never both.
 - Whatever the cell says, a released call is A or B as the wire meant it, to the letter.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

import trigate
from matrix_streams import NOT_ON_WIRE, PROTOCOLS, ROWS, A, B, matrix
from model import READERS
from streams import bytewise

#: `unconfirmed` stands for the problem `response_not_completed`: the call is whole, the turn is not.
TABLE = """
cut_in_arguments         openai-responses     truncated  A:unconfirmed B:incomplete
cut_in_arguments         openai-chat          truncated  A:incomplete B:incomplete
cut_in_arguments         anthropic-messages   truncated  A:unconfirmed B:incomplete
cut_in_arguments         bedrock-invoke       truncated  A:unconfirmed B:incomplete
cut_in_arguments         gemini               truncated  A:unconfirmed B:incomplete
cut_in_arguments         gemini-interactions  truncated  A:unconfirmed B:incomplete
cut_in_arguments         ollama-chat          truncated  A:unconfirmed
cut_in_arguments         bedrock-converse     truncated  A:unconfirmed B:incomplete
cut_in_arguments         cohere-chat          truncated  A:unconfirmed B:incomplete
whole_no_terminal        openai-responses     truncated  A:unconfirmed B:incomplete
whole_no_terminal        openai-chat          truncated  A:incomplete B:incomplete
whole_no_terminal        anthropic-messages   truncated  A:unconfirmed B:incomplete
whole_no_terminal        bedrock-invoke       truncated  A:unconfirmed B:incomplete
whole_no_terminal        gemini               truncated  A:unconfirmed B:unconfirmed
whole_no_terminal        gemini-interactions  truncated  A:unconfirmed B:incomplete
whole_no_terminal        ollama-chat          truncated  A:unconfirmed B:unconfirmed
whole_no_terminal        bedrock-converse     truncated  A:unconfirmed B:incomplete
whole_no_terminal        cohere-chat          truncated  A:unconfirmed B:incomplete
sentinel_no_terminal     openai-responses     truncated  A:unconfirmed B:unconfirmed
sentinel_no_terminal     openai-chat          truncated  A:incomplete B:incomplete
sentinel_no_terminal     anthropic-messages   truncated  A:unconfirmed B:unconfirmed
sentinel_no_terminal     gemini               truncated  A:unconfirmed B:unconfirmed
sentinel_no_terminal     gemini-interactions  truncated  A:unconfirmed B:unconfirmed
sentinel_no_terminal     cohere-chat          truncated  A:unconfirmed B:unconfirmed
cut_after_name           openai-responses     truncated  A:unconfirmed B:incomplete
cut_after_name           openai-chat          truncated  A:incomplete B:incomplete
cut_after_name           anthropic-messages   truncated  A:unconfirmed B:incomplete
cut_after_name           bedrock-invoke       truncated  A:unconfirmed B:incomplete
cut_after_name           gemini               truncated  A:unconfirmed B:incomplete
cut_after_name           gemini-interactions  truncated  A:unconfirmed B:incomplete
cut_after_name           ollama-chat          truncated  A:unconfirmed
cut_after_name           bedrock-converse     truncated  A:unconfirmed B:incomplete
cut_after_name           cohere-chat          truncated  A:unconfirmed B:incomplete
limit_in_arguments       openai-responses     incomplete A:unconfirmed B:incomplete
limit_in_arguments       openai-chat          incomplete A:incomplete B:incomplete
limit_in_arguments       anthropic-messages   incomplete A:unconfirmed B:incomplete
limit_in_arguments       bedrock-invoke       incomplete A:unconfirmed B:incomplete
limit_in_arguments       gemini               incomplete A:unconfirmed B:incomplete
limit_in_arguments       gemini-interactions  incomplete A:unconfirmed B:incomplete
limit_in_arguments       bedrock-converse     incomplete A:unconfirmed B:incomplete
limit_in_arguments       cohere-chat          incomplete A:unconfirmed B:incomplete
success_half_json        openai-responses     completed  A:released B:incomplete
success_half_json        openai-chat          completed  A:released B:incomplete
success_half_json        anthropic-messages   completed  A:released B:incomplete
success_half_json        bedrock-invoke       completed  A:released B:incomplete
success_half_json        gemini-interactions  completed  A:released B:incomplete
success_half_json        bedrock-converse     completed  A:released B:incomplete
success_half_json        cohere-chat          completed  A:released B:incomplete
two_on_one_index         openai-responses     completed  A:released B:released
two_on_one_index         openai-chat          completed  A:released B:released
two_on_one_index         anthropic-messages   completed  A:released B:released
two_on_one_index         bedrock-invoke       completed  A:released B:released
two_on_one_index         gemini-interactions  completed  A:released B:released
two_on_one_index         ollama-chat          completed  A:released B:released
two_on_one_index         bedrock-converse     completed  A:released B:released
two_on_one_index         cohere-chat          completed  A:released B:released
mixed_on_one_index       openai-responses     completed  A:released B:released
mixed_on_one_index       openai-chat          conflict   A:conflict B:conflict
mixed_on_one_index       anthropic-messages   conflict   A:conflict
mixed_on_one_index       bedrock-invoke       conflict   A:conflict
mixed_on_one_index       gemini-interactions  conflict   A:conflict B:malformed
mixed_on_one_index       bedrock-converse     conflict   A:conflict
mixed_on_one_index       cohere-chat          conflict   A:conflict
heads_on_one_index       openai-responses     completed  A:released B:released
heads_on_one_index       openai-chat          conflict   A:conflict B:conflict
heads_on_one_index       anthropic-messages   conflict   A:conflict
heads_on_one_index       bedrock-invoke       conflict   A:conflict
heads_on_one_index       gemini-interactions  conflict   A:conflict B:unconfirmed
heads_on_one_index       bedrock-converse     conflict   A:conflict
heads_on_one_index       cohere-chat          conflict   A:conflict
no_index                 openai-responses     completed  A:released B:released
no_index                 openai-chat          completed  A:released B:released
no_index                 anthropic-messages   failed     -
no_index                 bedrock-invoke       failed     -
no_index                 gemini-interactions  completed  A:released B:released
no_index                 ollama-chat          completed  A:released B:released
no_index                 bedrock-converse     failed     -
no_index                 cohere-chat          failed     -
duplicate_key            openai-responses     completed  A:released B:duplicate_key
duplicate_key            openai-chat          completed  A:released B:duplicate_key
duplicate_key            anthropic-messages   completed  A:released B:duplicate_key
duplicate_key            bedrock-invoke       completed  A:released B:duplicate_key
duplicate_key            gemini               completed  A:released B:duplicate_key
duplicate_key            gemini-interactions  completed  A:released B:duplicate_key
duplicate_key            ollama-chat          completed  A:released B:duplicate_key
duplicate_key            bedrock-converse     completed  A:released B:duplicate_key
duplicate_key            cohere-chat          completed  A:released B:duplicate_key
error_in_mid_stream      openai-responses     failed     A:unconfirmed B:incomplete
error_in_mid_stream      openai-chat          failed     A:incomplete B:incomplete
error_in_mid_stream      anthropic-messages   failed     A:unconfirmed B:incomplete
error_in_mid_stream      bedrock-invoke       failed     A:unconfirmed B:incomplete
error_in_mid_stream      gemini               failed     A:unconfirmed B:incomplete
error_in_mid_stream      gemini-interactions  failed     A:unconfirmed B:incomplete
error_in_mid_stream      ollama-chat          failed     A:unconfirmed
error_in_mid_stream      bedrock-converse     failed     A:unconfirmed B:incomplete
error_in_mid_stream      cohere-chat          failed     A:unconfirmed B:incomplete
item_done_then_cut       openai-responses     truncated  A:unconfirmed B:unconfirmed
item_done_then_cut       anthropic-messages   truncated  A:unconfirmed B:unconfirmed
item_done_then_cut       bedrock-invoke       truncated  A:unconfirmed B:unconfirmed
item_done_then_cut       gemini               truncated  A:unconfirmed B:unconfirmed
item_done_then_cut       gemini-interactions  truncated  A:unconfirmed B:unconfirmed
item_done_then_cut       ollama-chat          truncated  A:unconfirmed B:unconfirmed
item_done_then_cut       bedrock-converse     truncated  A:unconfirmed B:unconfirmed
item_done_then_cut       cohere-chat          truncated  A:unconfirmed B:unconfirmed
same_delta_twice         openai-responses     completed  A:released B:released
same_delta_twice         openai-chat          completed  A:released B:malformed
same_delta_twice         anthropic-messages   completed  A:released B:malformed
same_delta_twice         bedrock-invoke       completed  A:released B:malformed
same_delta_twice         gemini               conflict   A:unconfirmed B:conflict
same_delta_twice         gemini-interactions  completed  A:released B:released
same_delta_twice         ollama-chat          completed  A:released B:released
same_delta_twice         bedrock-converse     completed  A:released B:malformed
same_delta_twice         cohere-chat          completed  A:released B:malformed
unterminated_last_event  openai-responses     truncated  A:unconfirmed B:unconfirmed
unterminated_last_event  openai-chat          truncated  A:incomplete B:incomplete
unterminated_last_event  anthropic-messages   truncated  A:unconfirmed B:unconfirmed
unterminated_last_event  bedrock-invoke       truncated  A:unconfirmed B:unconfirmed
unterminated_last_event  gemini               truncated  A:unconfirmed B:unconfirmed
unterminated_last_event  gemini-interactions  truncated  A:unconfirmed B:unconfirmed
unterminated_last_event  ollama-chat          truncated  A:unconfirmed B:unconfirmed
unterminated_last_event  bedrock-converse     truncated  A:unconfirmed B:unconfirmed
unterminated_last_event  cohere-chat          truncated  A:unconfirmed B:unconfirmed
"""


class Cell(NamedTuple):
    status: str
    calls: dict[str, str]


def _cell(line: str) -> tuple[tuple[str, str], Cell]:
    row, protocol, status, *calls = line.split()
    words = dict(call.split(":") for call in calls if call != "-")
    return (protocol, row), Cell(status, words)


EXPECTED = dict(_cell(line) for line in TABLE.strip().splitlines())
STREAMS = {(protocol, row): data for protocol, row, data in matrix()}
MEANT = {(call.call_id, call.name, call.arguments) for call in (A, B)}
#: What a call says whose piece-wise arguments are none: the row of it gives B no arguments.
MEANT_EMPTY = {(B.call_id, B.name, "")}

cell_of = pytest.mark.parametrize(
    ("protocol", "row"), STREAMS, ids=lambda word: word if isinstance(word, str) else None
)


def seen(response: trigate.Response) -> Cell:
    words = {}
    for call in response.calls:
        word = "released" if isinstance(call, trigate.ReleasedCall) else str(call.problem)
        words[str(call.call_id).removeprefix("call_")] = (
            "unconfirmed" if word == "response_not_completed" else word
        )
    return Cell(response.status, words)


def test_every_cell_is_decided_once() -> None:
    cells = {(protocol, row) for protocol in PROTOCOLS for row in ROWS}
    assert set(EXPECTED) | set(NOT_ON_WIRE) == cells
    assert not set(EXPECTED) & set(NOT_ON_WIRE)
    assert set(STREAMS) == set(EXPECTED)
    assert len(EXPECTED) == len(TABLE.strip().splitlines())
    assert set(PROTOCOLS) == set(READERS)
    assert all(NOT_ON_WIRE.values())


@cell_of
def test_cell(protocol: str, row: str) -> None:
    response = trigate.parse(STREAMS[protocol, row], protocol)
    assert seen(response) == EXPECTED[protocol, row]


@cell_of
def test_a_released_call_is_what_was_meant(protocol: str, row: str) -> None:
    response = trigate.parse(STREAMS[protocol, row], protocol)
    meant = MEANT | (MEANT_EMPTY if row == "heads_on_one_index" else set())
    told = [(call.call_id, call.name, call.arguments) for call in response.released]
    assert set(told) <= meant
    assert len(told) == len(set(told))


@cell_of
def test_the_cut_of_the_input_changes_nothing(protocol: str, row: str) -> None:
    data = STREAMS[protocol, row]
    assert trigate.parse(bytewise(data), protocol) == trigate.parse(data, protocol)


@cell_of
def test_the_slow_reader_agrees(protocol: str, row: str) -> None:
    """On what is released. One that demands less than a cell of the table would be no witness."""
    outcome = READERS[protocol](STREAMS[protocol, row])
    released = [call.call_id for call in outcome.calls if call.released]
    names = {"A": A.call_id, "B": B.call_id}
    expected = EXPECTED[protocol, row].calls
    assert released == [names[letter] for letter, word in expected.items() if word == "released"]
