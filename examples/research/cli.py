"""Asks the research assistant on the command line.

    python examples/research/cli.py "延时任务 故障 恢复"              a recorded run again: no key, no network
    python examples/research/cli.py --live --model M "..."          a real model (it costs money): needs a key
    python examples/research/cli.py --base-url URL --model M "..."  a local server

Exit codes: 0 awaiting review, 1 another end, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from assistant import make_agent, new_values

from trigate.agent import DIALECTS, AgentLimits, AgentResult, LiveModel, ReplayError, ReplayModel, RunRecord
from trigate.agent.model import Model

HERE = Path(__file__).resolve().parent


class UsageError(Exception):
    """What was asked for cannot be done; the words say what to do."""


def choose_model(options: argparse.Namespace) -> Model:
    if not (options.live or options.base_url):
        return ReplayModel(options.replay)
    if not options.model:
        raise UsageError("--live and --base-url need --model: the model's name as its server knows it")
    dialect = DIALECTS[options.api]
    key = os.environ.get(dialect.key_variable)
    if options.live and not options.base_url and not key:
        raise UsageError(f"--live needs a key: set {dialect.key_variable}")
    # A local server gets no key that was meant for the provider.
    return LiveModel(options.model, dialect, key=None if options.base_url else key, base_url=options.base_url)


def show(result: AgentResult) -> None:
    for each in result.results:
        told = each.content if len(each.content) <= 100 else each.content[:97] + "..."
        print(f"{each.call.name:<20} {each.status:<10} {told}")
    usage = result.usage
    print()
    print(f"status  {result.status}" + (f" ({result.reason})" if result.reason else ""))
    print(f"rounds  {result.rounds}")
    print(
        f"tokens  {usage.input_tokens} in, {usage.output_tokens} out"
        + ("" if usage.complete else ", not all counted")
    )
    print(f"answer  {result.answer}" if result.answer else f"why     {result.message}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="a read-only research assistant over a few notes", allow_abbrev=False
    )
    parser.add_argument("question")
    parser.add_argument(
        "--replay", type=Path, default=HERE / "runs" / "answered.jsonl", help="a recorded run"
    )
    parser.add_argument("--live", action="store_true", help="ask a real model, which costs money")
    parser.add_argument(
        "--base-url", default="", help="ask a local server instead, such as http://127.0.0.1:8080/v1"
    )
    parser.add_argument("--api", choices=list(DIALECTS), default="anthropic-messages")
    parser.add_argument("--model", default="")
    parser.add_argument("--record", type=Path, help="write the run to this file, which must be new")
    parser.add_argument("--rounds", type=int, default=AgentLimits.rounds)
    parser.add_argument("--seconds", type=float, default=AgentLimits.seconds)
    parser.add_argument("--output-tokens", type=int, default=AgentLimits.output_tokens)
    options = parser.parse_args()
    try:
        limits = AgentLimits(
            rounds=options.rounds, seconds=options.seconds, output_tokens=options.output_tokens
        )
        model = choose_model(options)
        with RunRecord(options.record) as record:
            result = make_agent(model, limits).run(options.question, record=record, values=new_values())
    except FileExistsError:
        parser.error(f"{options.record} is there already: a record is never written over")
    except (UsageError, ReplayError, ValueError, OSError, ImportError) as error:
        parser.error(str(error))
    show(result)
    if result.reason == "replay_mismatch" and isinstance(model, ReplayModel):
        print(f"        The recorded run answers {model.question!r}; --live and --base-url ask a model.")
    return 0 if result.status == "awaiting_review" else 1


if __name__ == "__main__":
    sys.exit(main())
