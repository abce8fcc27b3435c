"""`trigate agent`: a question to a model that may use tools on this machine; or a recorded run again.

Rules
 - Without --allow-paid-api nothing is asked of a provider: a recorded run is replayed, or a local server is asked.
 - A key comes from the environment, goes to the provider that it is for, and is never shown. Another server gets the
   key that has a name of its own, a server on this machine gets none.
 - What a model wrote is shown as hostile text is: see trigate.cli.render.
"""

from __future__ import annotations

import argparse
import ipaddress
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trigate.cli.render import Screen, complain, dump_json, escape
from trigate.cli.source import InputError

if TYPE_CHECKING:
    from trigate.agent import AgentResult
    from trigate.agent.model import Model
    from trigate.tools import Toolset

__all__ = ["EXIT_CODES", "INSTRUCTIONS", "add_options"]

#: By AgentResult.status.
EXIT_CODES = {
    "completed": 0,
    "awaiting_review": 0,
    "failed": 4,
    "exhausted": 5,
    "needs_input": 5,
    "insufficient": 5,
    "protocol_error": 6,
}
_OTHERS_KEY = "TRIGATE_API_KEY"
_APIS = ("openai-responses", "openai-chat", "anthropic-messages")
INSTRUCTIONS = (
    "Answer the user's question from the files that the tools show. Look before you answer, say which files the "
    "answer rests on, and say so if they do not hold it."
)
_EPILOG = """\
exit codes: 0 completed or awaiting review, 4 failed, 5 a limit reached, or the model needs more,
            6 protocol error, 2 wrong usage, 130 interrupted

keys: OPENAI_API_KEY, ANTHROPIC_API_KEY; with --base-url: TRIGATE_API_KEY
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `trigate agent`."""
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("question", help="what to ask")
    parser.add_argument(
        "--tools",
        choices=["none", "read-only"],
        default="read-only",
        help="read-only (default): look at files",
    )
    parser.add_argument("--root", type=Path, metavar="DIR", help="the directory that the tools may see")
    parser.add_argument("--model", default="", metavar="M", help="the model's name, as its server knows it")
    parser.add_argument("--api", choices=_APIS, default=_APIS[0], help=f"how it is spoken to ({_APIS[0]})")
    parser.add_argument(
        "--base-url", default="", metavar="URL", help="another server, such as http://127.0.0.1:8080/v1"
    )
    parser.add_argument(
        "--allow-paid-api", action="store_true", help="ask the provider: this costs money and needs a key"
    )
    parser.add_argument("--replay", type=Path, metavar="FILE", help="a recorded run, to be run again offline")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="write the run here; the file must be new"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="requests at most (8)")
    parser.add_argument("--seconds", type=float, metavar="S", help="for all of it (60)")
    parser.add_argument("--output-tokens", type=int, metavar="N", help="in all rounds together (1800)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from trigate.agent import Agent, AgentLimits, ReplayError, ReplayModel, RunRecord

    screen = Screen()
    given = {name: getattr(options, name) for name in ("rounds", "seconds", "output_tokens")}
    try:
        limits = AgentLimits(**{name: value for name, value in given.items() if value is not None})
        model = _model(options)
        toolset = _tools(options)
        tell = None if options.json or not sys.stderr.isatty() else _tell
        with RunRecord(options.record, on_line=tell) as record:
            agent = Agent(model, toolset, instructions=INSTRUCTIONS, limits=limits)
            result = agent.run(options.question, record=record)
    except FileExistsError:
        raise InputError(f"{options.record} is there already: a record is never written over") from None
    except ReplayError as error:
        raise InputError(error.message) from None
    except (OSError, ValueError, ImportError, NotImplementedError) as error:
        raise InputError(str(error)) from None
    if result.reason == "replay_mismatch" and isinstance(model, ReplayModel):
        complain("agent", f"the record answers {model.question!r}, with the tools and files of then")
    if options.json:
        screen.write(dump_json(_as_json(result), indent=2 if screen.is_terminal else None))
    else:
        _show(result, screen)
    return EXIT_CODES[result.status]


def _model(options: argparse.Namespace) -> Model:
    from trigate.agent import DIALECTS, LiveModel, ReplayModel

    if options.replay is not None:
        if options.allow_paid_api or options.base_url:
            raise InputError("--replay asks nobody: leave --allow-paid-api and --base-url out")
        return ReplayModel(options.replay)
    is_local = bool(options.base_url) and _is_local(options.base_url)
    if not options.allow_paid_api and not is_local:
        raise InputError(
            "without --allow-paid-api nothing is asked of a provider: give --replay FILE for a recorded run, or "
            "--base-url for a server on this machine"
        )
    if not options.model:
        raise InputError("--model is missing: the model's name, as its server knows it")
    dialect = DIALECTS[options.api]
    variable = _OTHERS_KEY if options.base_url else dialect.key_variable
    key = None if is_local else os.environ.get(variable, "").strip()
    if not key and not is_local:
        raise InputError(f"no key: set {variable}")
    return LiveModel(options.model, dialect, key=key, base_url=options.base_url)


def _is_local(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _tools(options: argparse.Namespace) -> Toolset:
    from trigate.tools import Toolset
    from trigate.tools.files import file_tools

    if options.tools == "none":
        return Toolset()
    if options.root is None:
        raise InputError("--root is missing: the directory that the tools may see; or --tools none")
    return Toolset(file_tools(options.root))


def _tell(line: dict[str, Any]) -> None:
    """Progress, on the terminal's error stream."""
    match line["type"]:
        case "request":
            words = f"round {line['round']}: asking"
        case "response":
            words = (
                f"round {line['round']}: {line['failure'] or line['status']} after {line['seconds']:.1f} s"
            )
        case "result":
            words = f"round {line['round']}: {line['name']} {line['status']}"
        case _:
            return
    print(escape(words), file=sys.stderr, flush=True)


def _as_json(result: AgentResult) -> dict[str, Any]:
    return {**result.to_record(), "results": [each.to_record() for each in result.results]}


def _show(result: AgentResult, screen: Screen) -> None:
    rows = [(each.call.name, each.status, each.call.arguments, each.content) for each in result.results]
    if rows:
        screen.table(("TOOL", "STATUS", "ARGUMENTS", "RESULT"), rows)
        screen.write("")
    usage = result.usage
    whole = "" if usage.complete else " (not all of them were counted)"
    told = [("status", result.status + (f": {result.reason}" if result.reason else ""))]
    told.append(("rounds", str(result.rounds)))
    told.append(("tokens", f"{usage.input_tokens} in, {usage.output_tokens} out{whole}"))
    if result.answer is None:
        told.append(("why", result.message))
    screen.details(told)
    for text in ("", *(result.answer or "").splitlines()):
        screen.write(escape(text))
