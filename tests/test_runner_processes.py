"""The runner beyond one process: forked children, and a run that is interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_HEAD = """
import os, signal, sys
from test_runner import FREE, response
from trigate.ledger import SQLiteLedger, key_of
from trigate.runner import Runner
from trigate.tools import Context, Toolset, tool
"""


def script(text: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", _HEAD + text, str(folder)],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_runs_calls_with_its_parent_s_runner(tmp_path: Path) -> None:
    told = script(
        """
@tool
async def act(number: int) -> int:
    return number + 1

ledger = SQLiteLedger(sys.argv[1] + "/ledger.db")
runner = Runner(Toolset([act]), FREE, ledger=ledger)
print(runner.run(response(("a", "act", '{"number":1}')))["a"].content, flush=True)
child = os.fork()
given = response(("b", "act", '{"number":2}' if child else '{"number":3}'), id_=str(child))
print(runner.run(given)["b"].content, flush=True)
if not child:
    os._exit(0)
os.waitpid(child, 0)
print(runner.run(response(("c", "act", '{"number":9}')))["c"].content, flush=True)
ledger.close()
""",
        tmp_path,
    )
    lines = told.split()
    assert (lines[0], sorted(lines[1:3]), lines[3]) == ("2", ["3", "4"], "10")


@pytest.mark.skipif(sys.platform == "win32", reason="signals to a process differ there")
def test_an_interrupted_run_leaves_its_outcome_in_doubt(tmp_path: Path) -> None:
    told = script(
        """
@tool
def act(context: Context) -> str:
    os.kill(os.getpid(), signal.SIGINT)
    context.cancellation.wait(20)
    return "late"

given = response(("a", "act", "{}"))
with SQLiteLedger(sys.argv[1] + "/ledger.db") as ledger:
    try:
        Runner(Toolset([act]), FREE, ledger=ledger).run(given)
    except KeyboardInterrupt:
        print("interrupted")
    print(ledger.get(key_of(given.released[0], given, "default")).state)
""",
        tmp_path,
    )
    assert told.split() == ["interrupted", "unknown"]
