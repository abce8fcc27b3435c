"""A ledger under faults: processes that race and are killed, streams that come again.

`make ledger-faults` races and kills for longer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import trigate
from ledger_faults import Arena, faultless, table
from ledgers import BACKENDS, Place, digest, place_of, response_of, run_python, stream_of
from trigate.ledger import (
    Ledger,
    digest_of,
    key_of,
    open_ledger,
)

A = digest("a")


@pytest.fixture(params=BACKENDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    made = place_of(request.param, request, tmp_path)
    yield made
    made.close()


# -- processes -------------------------------------------------------------------------------------


def test_races_and_kills(place: Place) -> None:
    """8 workers want the same 100 calls; 14 workers are killed, two at each step."""
    words = (
        "--backend",
        place.backend,
        "--url",
        place.url,
        "--calls",
        "100",
        "--kills",
        "14",
        "--lease",
        "0.4",
    )
    made = json.loads(run_python("ledger_faults.py", *words))
    assert made["ok"]
    assert (made["race"]["runs"], made["race"]["succeeded"]) == (100, 100)
    killed = made["kills"]
    assert killed["kills"] == 14
    assert min(killed["by_step"].values()) == 2
    assert killed["unknown"] >= 6  # after the claim, after the run, in the write
    assert killed["had_happened"] + killed["had_not_happened"] == killed["unknown"]
    assert "| 100, 8 | 100 | 14 |" in table([made])


def test_the_judge_of_those_faults_sees_them(tmp_path: Path) -> None:
    arena = Arena(str(tmp_path / "ledger.db"), tmp_path, 60.0)
    with open_ledger(arena.url) as ledger:
        for number in range(3):
            ledger.succeed(ledger.claim(arena.key(number), digest("d")), number * 7)
        (tmp_path / "acted").write_text("0\n1\n2\n")
        (tmp_path / "told").write_text("0\n1\n2\n")
        assert faultless(arena.check(ledger, 4))
        (tmp_path / "acted").write_text("0\n1\n1\n2\n")
        assert arena.check(ledger, 4)["twice"] == 1
        (tmp_path / "acted").write_text("0\n1\n2\n3\n")
        assert arena.check(ledger, 4)["wrong"] == 1
        (tmp_path / "told").write_text("0\n1\n2\n3\n")
        assert arena.check(ledger, 4)["lost"] == 1
        assert not faultless(arena.check(ledger, 4))


def test_a_ledger_goes_with_its_process(place: Place) -> None:
    """A child of a fork has a connection of its own, and leaves its parent's alone."""
    code = f"""
import os
from trigate.ledger import Key, open_ledger
with open_ledger({place.url!r}) as ledger:
    key = Key({"fork" + place.name!r}, "r", "c", "t")
    claim = ledger.claim(key, {A!r})
    child = os.fork()
    if not child:
        print(ledger.claim(key, {A!r}).outcome, ledger.get(key).state, flush=True)
        ledger.succeed(claim, "by the child")
        ledger.close()
        os._exit(0)
    os.waitpid(child, 0)
    print(ledger.get(key).result)
"""
    assert run_python("-c", code) == "busy claimed\nby the child\n"


def test_a_child_that_drops_its_ledger_leaves_the_parent_s_alone(place: Place) -> None:
    code = f"""
import gc, os
from trigate.ledger import Key, open_ledger
ledger = open_ledger({place.url!r})
key = Key({"drop" + place.name!r}, "r", "c", "t")
claim = ledger.claim(key, {A!r})
child = os.fork()
if not child:
    del ledger
    gc.collect()
    os._exit(0)
os.waitpid(child, 0)
print(ledger.succeed(claim, 1).state)
ledger.close()
"""
    assert run_python("-c", code) == "succeeded\n"


# -- streams that come again -----------------------------------------------------------------------


class Runner:
    """The smallest loop that runs calls: it asks the ledger, and keeps count."""

    def __init__(self, ledger: Ledger, scope: str) -> None:
        self.ledger = ledger
        self.scope = scope
        self.ran: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()

    def take(self, response: trigate.Response) -> None:
        for call in response.released:
            claim = self.ledger.claim(key_of(call, response, self.scope), digest_of(call))
            self.seen[claim.outcome] += 1
            if claim.outcome == "claimed":
                self.ran[claim.key.id] += 1
                self.ledger.succeed(claim, call.value())


def test_a_stream_cut_at_every_event_and_begun_anew_runs_each_call_once(place: Place) -> None:
    stream = stream_of('{"to":"Ann","amount":10}', '{"to":"Bob","amount":20}', "{}")
    ends = [at + 2 for at in range(len(stream)) if stream.startswith(b"\n\n", at)]
    assert len(ends) > 10
    runner = Runner(place.open(), "replay" + place.name)
    for end in [*ends, *ends]:
        for part in (stream[:end], stream):  # the connection broke here; then all of it came
            parser = trigate.ResponseParser("openai-responses")
            parser.feed(part)
            runner.take(parser.finish())
    assert sorted(runner.ran.values()) == [1, 1, 1]
    assert set(runner.seen) == {"claimed", "stored"}
    assert runner.seen["stored"] == len(ends) * 2 * 3 + 2 * 3 - 3


def test_calls_released_early_run_once_however_often_the_stream_breaks(place: Place) -> None:
    """With release_on="call" a cut stream has released calls already, and they ran."""
    stream = stream_of('{"to":"Ann","amount":10}', '{"to":"Bob","amount":20}')
    ends = [at + 2 for at in range(len(stream)) if stream.startswith(b"\n\n", at)]
    runner = Runner(place.open(), "early" + place.name)
    for end in ends:
        runner.take(trigate.parse(stream[:end], "openai-responses", release_on="call"))
    assert sorted(runner.ran.values()) == [1, 1]
    assert runner.seen["stored"] > 4


def test_the_same_call_of_the_same_response_with_other_arguments_is_a_conflict(place: Place) -> None:
    runner = Runner(place.open(), "other" + place.name)
    runner.take(response_of('{"amount":10}'))
    runner.take(response_of('{"amount":1000}'))
    assert runner.seen == {"claimed": 1, "conflict": 1}
    runner.take(response_of('{"amount":1000}', response_id="resp_2"))  # a new response asks for a new call
    assert runner.seen == {"claimed": 2, "conflict": 1}
