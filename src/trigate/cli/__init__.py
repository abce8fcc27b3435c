"""The command line: what a recorded stream asks for, whether it may have it, and what became of it.

Rules
 - The exit code is the verdict (EXIT_CODES); a program need not read the text.
 - A mistake of the caller is one line on standard error that says what to do, and exit code 2.
 - What came over the wire is never written to a terminal as it is: see trigate.cli.render.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from trigate.cli import agent, calls, events, ledger
from trigate.cli.render import complain, escape
from trigate.cli.source import InputError
from trigate.protocols import PROTOCOLS
from trigate.validate import LENIENCIES

__all__ = ["main"]

_MISTAKE = 2
_INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
_NO_READER = 141  # 128 + SIGPIPE

_CALLS_EPILOG = """\
exit codes: 0 completed, 3 truncated, 4 failed, 5 incomplete or cancelled, 6 conflict,
            2 wrong usage or unreadable input, 130 interrupted, 141 the reader went away
            0 does not mean that every call may run: look at their states

words for --lenient:
"""
_EVENTS_EPILOG = """\
exit codes: 0 whole events to the end, or none at all, 3 the input ended inside an event,
            4 broken bytes or a limit passed, 2 wrong usage or unreadable input,
            130 interrupted, 141 the reader went away
"""


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        line = escape(message)
        self.exit(_MISTAKE, f"{self.prog}: {line}; see `{self.prog} --help`\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="trigate",
        description="Reads the recorded byte stream of a model API: its calls, its events, how it ended. "
        "Looks into a ledger of calls.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"trigate {_version()}")
    verbs = parser.add_subparsers(dest="verb", metavar="COMMAND", required=True)
    _add_calls(verbs)
    _add_events(verbs)
    _add_agent(verbs)
    _add_ledger(verbs)
    return parser


def _version() -> str:
    from trigate import __version__  # here, because the package may still be initialising

    return __version__


def _add_calls(verbs: argparse._SubParsersAction[_Parser]) -> None:
    words = "".join(f"  {word:<25} {meaning}\n" for word, meaning in LENIENCIES.items())
    parser = verbs.add_parser(
        "calls",
        help="the tool calls of a stream, and how the response ended",
        description="Shows the tool calls of a stream, which of them may run, and how the response ended.",
        epilog=_CALLS_EPILOG + words,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_source(parser)
    parser.add_argument(
        "--protocol",
        choices=["auto", *PROTOCOLS],
        default="auto",
        metavar="NAME",
        help=f"auto (default), {', '.join(PROTOCOLS)}",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="also show which rule and which bytes decided (--json always has the decisions, by offset)",
    )
    parser.add_argument(
        "--release-on",
        choices=["response", "call"],
        default="response",
        help="release calls when the response is completed (default), or each when its own item is done",
    )
    parser.add_argument(
        "--lenient",
        action="append",
        choices=list(LENIENCIES),
        default=[],
        metavar="WORD",
        help="allow one deviation, see below; may be repeated",
    )
    parser.add_argument("--strict", action="store_true", help="unknown event or item types fail the response")
    parser.set_defaults(run=calls.run)


def _add_events(verbs: argparse._SubParsersAction[_Parser]) -> None:
    parser = verbs.add_parser(
        "events",
        help="the server-sent events of a stream, one line each",
        description="Shows the server-sent events of a stream: byte offset, type, size of the data, data.\n"
        "Other framings (newline-delimited JSON, Bedrock's messages) hold none: `trigate calls` reads them.",
        epilog=_EVENTS_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_source(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--strict", action="store_true", help="ill-formed UTF-8 is an error, not U+FFFD")
    parser.set_defaults(run=events.run)


def _add_agent(verbs: argparse._SubParsersAction[_Parser]) -> None:
    parser = verbs.add_parser(
        "agent",
        help="a question to a model that may look at files; or a recorded run again",
        description="Asks a model in rounds, runs the calls that may run, and says how it ended.",
        allow_abbrev=False,
    )
    agent.add_options(parser)


def _add_ledger(verbs: argparse._SubParsersAction[_Parser]) -> None:
    parser = verbs.add_parser(
        "ledger",
        help="what a ledger of calls holds: list, show, reconcile",
        description="Looks into a ledger of tool calls, and tells it what became of a call in doubt.",
        allow_abbrev=False,
    )
    ledger.add_verbs(parser)


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the recorded bytes; - is standard input")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    parser = _parser()
    try:
        options = parser.parse_args(argv)
    except SystemExit as end:  # argparse's way to end: after --help, or after one line about a mistake
        return end.code if isinstance(end.code, int) else _MISTAKE
    try:
        code: int = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except InputError as error:
        complain(options.verb, str(error))
        return _MISTAKE
    except BrokenPipeError:
        _forget_stdout()
        return _NO_READER
    except OSError as error:  # of the output: the input's own are InputErrors
        _forget_stdout()
        complain(options.verb, f"cannot write the output: {error.strerror}")
        return _MISTAKE
    except KeyboardInterrupt:
        complain(options.verb, "interrupted")
        return _INTERRUPTED
    return code


def _forget_stdout() -> None:
    """Nothing can be written any more: what is still buffered goes nowhere, so that the exit is silent."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
