"""`trigate ledger`: what a person and a program see, exit codes, and that looking changes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ledgers import BACKENDS, Place, digest, key, place_of
from trigate.cli import main
from trigate.cli.ledger import EXIT_CODES, IN_DOUBT, NOT_IN_DOUBT
from trigate.ledger import Key, Ledger, open_ledger
from trigate.ledger.entry import STATES

A = digest("a")
HOSTILE = "\x1b]0;owned\x07\u202e"


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A ledger with a call in each state."""
    where = tmp_path / "ledger.db"
    with open_ledger(where) as ledger:
        fill(ledger)
    return str(where)


def fill(ledger: Ledger, scope: str = "test") -> None:
    ledger.succeed(ledger.claim(key(1, scope), A), {"paid": HOSTILE})
    ledger.fail(ledger.claim(key(2, scope), A), f"refused {HOSTILE}")
    ledger.give_up(ledger.claim(key(3, scope), A), "no answer within 30 s")
    ledger.propose(key(4, scope), A, read_only=True)
    ledger.claim(key(5, scope), A)


Run = tuple[int, str, str]


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a pipe, wherever the tests run."""
    monkeypatch.delenv("COLUMNS", raising=False)


def cli(capsys: pytest.CaptureFixture[str], *words: str) -> Run:
    code = main(["ledger", *words])
    made = capsys.readouterr()
    return code, made.out, made.err


def test_list_shows_every_call_and_says_what_is_in_doubt(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = cli(capsys, "list", path)
    assert (code, err) == (IN_DOUBT, "")
    head, *rows, counts = out.splitlines()
    assert head.split() == ["ID", "STATE", "TOOL", "CALL", "RESPONSE", "SCOPE", "CHANGED", "PROBLEM"]
    assert [row.split()[3] for row in rows] == [f"call_{number}" for number in range(1, 6)]
    assert counts == "1 succeeded, 1 unknown, 1 failed, 1 proposed, 1 claimed"
    assert rows[0].startswith(key(1).id[:12] + "  succeeded  transfer")
    assert "refused \\x1b]0;owned\\x07\\u202e" in rows[1]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", out)


def test_list_by_state_and_scope(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    for state in STATES:
        code, out, _ = cli(capsys, "list", path, "--state", state, "--json")
        (line,) = out.splitlines()
        assert json.loads(line)["state"] == state
        assert code == (IN_DOUBT if state == "unknown" else 0)
    assert cli(capsys, "list", path, "--scope", "other") == (0, "no calls\n", "")
    code, out, err = cli(capsys, "list", path, "--limit", "2")
    assert code == 0
    assert out.endswith("1 succeeded, 1 failed\n")
    assert err == "trigate ledger: there are more than 2: narrow it down, or raise --limit\n"


def test_show_one_call(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    codes = {}
    for number in range(1, 6):
        code, out, err = cli(capsys, "show", path, key(number).id[:12].upper(), "--json")
        made = json.loads(out)
        codes[made["state"]] = code
        assert err == ""
        assert made["id"] == key(number).id
        assert made["digest"] == A
        assert (made["lease_until"] is not None) == (made["state"] == "claimed")
        assert made["read_only"] == (made["state"] == "proposed")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["created"])
    assert codes == EXIT_CODES
    assert codes.keys() == STATES.keys()
    _, out, _ = cli(capsys, "show", path, key(1).id)
    rows = dict(line.split(None, 1) for line in out.splitlines())
    assert (rows["state"], rows["tool"], rows["effect"]) == ("succeeded", "transfer", "side effect")
    assert rows["result"] == r'{"paid": "\u001b]0;owned\u0007\u202e"}'
    _, out, _ = cli(capsys, "show", path, key(5).id)
    assert re.search(r"^lease +until \d{4}-", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "state", "code"),
    [
        (("--succeeded", '{"id": 7}'), "succeeded", 0),
        (("--failed", "the bank refused"), "failed", 4),
        (("--not-happened",), "proposed", 5),
    ],
)
def test_reconcile_writes_once(
    path: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], state: str, code: int
) -> None:
    found, out, err = cli(capsys, "reconcile", path, key(3).id[:10], *words, "--json")
    made = json.loads(out)
    assert (found, err, made["state"]) == (code, "", state)
    assert made["result"] == ({"id": 7} if state == "succeeded" else None)
    found, out, err = cli(capsys, "reconcile", path, key(3).id[:10], "--not-happened")
    assert (found, out) == (NOT_IN_DOUBT, "")
    assert f"is not in doubt: the entry is {state}" in err
    with open_ledger(path) as ledger:
        entry = ledger.get(key(3))
        assert entry is not None
        assert entry.state == state


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("list", "{path}.missing"), "there is no such file"),
        (("list", "mysql://user:secret@host/x"), "not mysql://"),
        (("list", "redis://127.0.0.1:1"), "cannot be used"),
        (("list", "{path}", "--limit", "0"), "a whole number from 1 on, not '0'"),
        (("show", "{path}", "call_1"), "which `trigate ledger list` shows"),
        (("show", "{path}", "0" * 64), "no call has an id that begins with 000"),
        (
            ("reconcile", "{path}", "{id}"),
            "one of the arguments --succeeded --failed --not-happened is required",
        ),
        (("reconcile", "{path}", "{id}", "--succeeded", "done"), "a text needs quotes"),
        (("reconcile", "{path}", "{id}", "--succeeded", "NaN"), "is not JSON"),
        ((), "the following arguments are required: COMMAND"),
    ],
)
def test_mistakes_are_one_line(
    path: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    before = Path(path).read_bytes()
    code, out, err = cli(capsys, *(word.format(path=path, id=key(3).id) for word in words))
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
    assert "secret" not in err
    assert Path(path).read_bytes() == before


def test_an_id_of_several_calls_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = str(tmp_path / "x.db")
    with open_ledger(where) as ledger:
        for number in range(17):
            ledger.propose(key(number), A)
    firsts = [key(number).id[0] for number in range(17)]
    shared = next(first for first in firsts if firsts.count(first) > 1)
    code, _, err = cli(capsys, "show", where, shared)
    assert code == 2
    assert "several calls have an id that begins with" in err


def test_it_reads_every_kind_of_ledger(
    request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for backend in BACKENDS:
        place: Place = place_of(backend, request, tmp_path)
        with open_ledger(place.url) as ledger:
            fill(ledger, "cli")
            wanted = Key("cli", "resp_1", "call_3", "transfer")
        code, out, _ = cli(capsys, "list", place.url, "--scope", "cli", "--json")
        assert (code, len(out.splitlines())) == (IN_DOUBT, 5)
        assert cli(capsys, "reconcile", place.url, wanted.id, "--failed", "x")[0] == EXIT_CODES["failed"]
