"""A real server's streams, recorded: llama.cpp (tests/live/record.py, docs/live.md) over its three APIs.

A whole call of each, and one that the token limit cut after `100` of 1000. Who records them again writes the ids anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

import cuts
import trigate

STREAMS = Path(__file__).parent.parent / "examples" / "streams"
WHOLE = '{\n  "to": "Anna",\n  "amount": 1000\n  }'
CUT = '{\n  "to": "Anna",\n  "amount": 100'


class Recording(NamedTuple):
    """protocol, id of the call; how the cut response ends; what of the whole one and of the cut one is tolerated."""

    protocol: str
    whole_id: str
    cut_id: str
    cut_end: tuple[str, str]
    anomalies: tuple[str, ...] = ()
    cut_anomalies: tuple[str, ...] = ()

    def stream(self, word: str) -> bytes:
        return (STREAMS / f"live-{self.protocol}-{word}.sse").read_bytes()


_NO_INDEX = ("missing_index", "missing_index")
RECORDINGS = (
    Recording(
        "openai-chat",
        "rUdUr9gabQ4XOEVyI5CWCpkaWCZfPc86",
        "F1ImQvIA3fjp0B8VXctmtDjgvJEiyINX",
        ("incomplete", "length"),
    ),
    Recording(
        "openai-responses",
        "call_Cv9LDaxsnrN4SOofMhMeVSOIdBxvfeDh",
        "call_O6xXF4UAt8l47Uwi3dqC3OprbKemY4Q5",
        ("completed", "completed"),  # so says the server; the call tells that it is not so
        _NO_INDEX,
        (*_NO_INDEX, "cut_call_in_completed_response"),
    ),
    Recording(
        "anthropic-messages",
        "xdlJoK8hztklkS3fQH7AfrjJpZhAgqEt",
        "SFbHYoE7p1y7HqhBGiAuCONGHb9RK0in",
        ("incomplete", "max_tokens"),
    ),
)
every = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.protocol)
by_name_and_auto = pytest.mark.parametrize("named", [True, False], ids=["named", "auto"])


def protocol(recording: Recording, named: bool) -> str:
    return recording.protocol if named else "auto"


@every
@by_name_and_auto
def test_the_whole_call_is_released(recording: Recording, named: bool) -> None:
    for chunks in cuts.every(recording.stream("call"), recording.protocol):
        response = trigate.parse(chunks, protocol(recording, named))
        assert (response.status, response.protocol, response.clean_end) == (
            "completed",
            recording.protocol,
            True,
        )
        (call,) = response.released
        assert (call.call_id, call.name, call.arguments) == (recording.whole_id, "transfer", WHOLE)
        assert call.value() == {"to": "Anna", "amount": 1000}
        assert tuple(anomaly.code for anomaly in response.anomalies) == recording.anomalies
        assert response.text == ""
        assert response.error is None


@every
@by_name_and_auto
def test_the_cut_call_is_not(recording: Recording, named: bool) -> None:
    for chunks in cuts.every(recording.stream("cut"), recording.protocol):
        response = trigate.parse(chunks, protocol(recording, named))
        assert (response.status, response.reason) == recording.cut_end
        assert response.released == ()
        (call,) = response.calls
        assert (call.call_id, call.name, call.arguments) == (recording.cut_id, "transfer", CUT)
        assert (call.state, call.problem) == ("void", "incomplete")
        assert tuple(anomaly.code for anomaly in response.anomalies) == recording.cut_anomalies


@every
def test_the_cut_call_is_not_released_early_either(recording: Recording) -> None:
    response = trigate.parse([recording.stream("cut")], recording.protocol, release_on="call")
    assert response.released == ()


@every
@pytest.mark.parametrize("word", ["call", "cut"])
def test_no_beginning_releases_anything(recording: Recording, word: str) -> None:
    """Up to the event that says how it ended."""
    stream = recording.stream(word)
    end = {"openai-chat": b'"finish_reason":"', "openai-responses": b"event: response.completed"}
    last = stream.rindex(end.get(recording.protocol, b"event: message_delta"))
    for at in range(last + 1):
        response = trigate.parse([stream[:at]], recording.protocol)
        assert (response.status, response.released) == ("truncated", ())


def test_the_server_calls_the_cut_call_completed() -> None:
    """What makes the recording worth keeping: the wire itself says `completed`, twice, around half a JSON."""
    stream = RECORDINGS[1].stream("cut").decode()
    event = json.loads(stream.rpartition("event: response.completed\ndata: ")[2])
    (item,) = event["response"]["output"]
    assert (event["response"]["status"], item["status"], item["arguments"]) == ("completed", "completed", CUT)
