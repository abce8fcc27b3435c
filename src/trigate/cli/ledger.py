"""`trigate ledger`: what a ledger holds, one call of it, and the word of a person on a call in doubt.

Rules
 - Looking changes nothing. Only `reconcile` writes, and only about a call whose outcome is unknown.
 - The ledger is imported here, when it is wanted: the other commands do not need it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from trigate.cli.render import Row, Screen, complain, dump_json
from trigate.cli.source import InputError

if TYPE_CHECKING:
    from trigate.ledger import Entry, Finding, Ledger

__all__ = ["EXIT_CODES", "IN_DOUBT", "NOT_IN_DOUBT", "add_verbs"]

_T = TypeVar("_T")
#: By Entry.state, for `show` and `reconcile`.
EXIT_CODES = {"succeeded": 0, "unknown": 3, "failed": 4, "proposed": 5, "claimed": 5}
#: `list`: some outcome is unknown.
IN_DOUBT = 3
#: `reconcile`: the outcome is not unknown, or not any more.
NOT_IN_DOUBT = 6
_HEAD = ("ID", "STATE", "TOOL", "CALL", "RESPONSE", "SCOPE", "CHANGED", "PROBLEM")
_SHOWN_ID = 12
_EPILOG = """\
exit codes: list: 0, or 3 if some outcome is unknown
            show, reconcile: 0 succeeded, 3 unknown, 4 failed, 5 proposed or claimed
            reconcile: 6 the outcome is not in doubt, nothing was written
            2 wrong usage, an unusable ledger, or an id that names no call or several
"""


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """The commands under `trigate ledger`."""
    verbs = parser.add_subparsers(dest="ledger_verb", metavar="COMMAND", required=True)
    words = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "epilog": _EPILOG,
        "allow_abbrev": False,
    }

    each = verbs.add_parser("list", help="the calls of a ledger, the oldest first", **words)  # type: ignore[arg-type]
    _add_place(each)
    each.add_argument(
        "--state", choices=list(EXIT_CODES), help="only these; a lease that is over counts as unknown"
    )
    each.add_argument("--scope", help="only those of this scope")
    each.add_argument("--limit", type=_positive, default=1000, metavar="N", help="at most so many (1000)")
    each.set_defaults(run=_list)

    each = verbs.add_parser("show", help="one call: its key, state and result", **words)  # type: ignore[arg-type]
    _add_place(each)
    _add_id(each)
    each.set_defaults(run=_show)

    each = verbs.add_parser("reconcile", help="tell what became of a call in doubt", **words)  # type: ignore[arg-type]
    _add_place(each)
    _add_id(each)
    found = each.add_mutually_exclusive_group(required=True)
    found.add_argument("--succeeded", metavar="JSON", help="it had happened; its result")
    found.add_argument("--failed", metavar="WHY", help="it had failed")
    found.add_argument(
        "--not-happened",
        action="store_true",
        help="it had not happened, and whoever ran it is gone: it may be claimed again",
    )
    each.set_defaults(run=_reconcile)


def _add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ledger", metavar="PATH|URL", help="a file, or a postgresql:// or redis:// URL")
    parser.add_argument("--json", action="store_true", help="JSON, one object for each call")


def _add_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="as `list` shows it; its first digits will do")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on, not {text!r}")
    return int(text)


# -- the commands ----------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> int:
    with _opened(options.ledger, "ro") as ledger:
        found = _told(lambda: ledger.entries(options.state, options.scope, limit=options.limit + 1))
    entries, has_more = found[: options.limit], len(found) > options.limit
    screen = Screen()
    if options.json:
        for entry in entries:
            screen.write(dump_json(_members(entry)))
    else:
        if entries:
            screen.table(_HEAD, [_row(entry) for entry in entries])
        counts = [
            f"{count} {state}" for state in EXIT_CODES if (count := sum(e.state == state for e in entries))
        ]
        screen.write(", ".join(counts) or "no calls")
    if has_more:
        complain("ledger", f"there are more than {options.limit}: narrow it down, or raise --limit")
    return IN_DOUBT if any(entry.state == "unknown" for entry in entries) else 0


def _show(options: argparse.Namespace) -> int:
    with _opened(options.ledger, "ro") as ledger:
        entry = _one(ledger, options.id)
    _print(entry, options.json)
    return EXIT_CODES[entry.state]


def _reconcile(options: argparse.Namespace) -> int:
    from trigate.ledger import LedgerError

    finding = _finding(options)
    with _opened(options.ledger, "rw") as ledger:
        entry = _one(ledger, options.id)
        try:
            entry = ledger.reconcile(entry.key, finding)
        except LedgerError as error:
            if error.code != "not_in_doubt":
                raise InputError(str(error)) from None
            complain("ledger", str(error))
            return NOT_IN_DOUBT
    _print(entry, options.json)
    return EXIT_CODES[entry.state]


def _finding(options: argparse.Namespace) -> Finding:
    from trigate.ledger import Finding

    if options.not_happened:
        return Finding("not_happened")
    if options.failed is not None:
        return Finding("failed", problem=options.failed)
    try:
        result = json.loads(options.succeeded)
        json.dumps(result, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the result of --succeeded is not JSON: {error}; a text needs quotes") from None
    return Finding("succeeded", result=result)


# -- the ledger ------------------------------------------------------------------------------------


def _opened(where: str, mode: Literal["rw", "ro"]) -> Ledger:
    from trigate.ledger import open_ledger

    return _told(lambda: open_ledger(where, mode=mode))


def _told(act: Callable[[], _T]) -> _T:
    """What it gives; an error of the ledger as a sentence."""
    from trigate.ledger import LedgerError

    try:
        return act()
    except (LedgerError, ImportError, ValueError) as error:
        raise InputError(str(error)) from None


def _one(ledger: Ledger, prefix: str) -> Entry:
    found = _told(lambda: ledger.find(prefix.lower()))
    if len(found) != 1:
        raise InputError(
            f"{'several calls have' if found else 'no call has'} an id that begins with {prefix}; "
            "`trigate ledger list` shows them"
        )
    return found[0]


# -- how it looks ----------------------------------------------------------------------------------


def _print(entry: Entry, as_json: bool) -> None:
    screen = Screen()
    if as_json:
        screen.write(dump_json(_members(entry), indent=2 if screen.is_terminal else None))
        return
    rows: list[Row] = [("id", entry.key.id), ("state", entry.state)]
    rows += [(name, getattr(entry.key, name)) for name in ("scope", "response", "call", "tool")]
    rows += [
        ("digest", entry.digest),
        ("effect", "read-only" if entry.read_only else "side effect"),
        ("fence", str(entry.fence)),
        ("created", _time(entry.created)),
        ("changed", _time(entry.updated)),
    ]
    if entry.lease_until is not None:
        rows.append(("lease", f"until {_time(entry.lease_until)}"))
    if entry.problem is not None:
        rows.append(("problem", entry.problem))
    if entry.result_json is not None:
        rows.append(("result", entry.result_json))
    screen.details(rows)


def _row(entry: Entry) -> Row:
    key = entry.key
    changed = _time(entry.updated)
    return (
        key.id[:_SHOWN_ID],
        entry.state,
        key.tool,
        key.call,
        key.response,
        key.scope,
        changed,
        entry.problem or "-",
    )


def _members(entry: Entry) -> dict[str, Any]:
    key = entry.key
    return {
        "id": key.id,
        "scope": key.scope,
        "response": key.response,
        "call": key.call,
        "tool": key.tool,
        "digest": entry.digest,
        "state": entry.state,
        "read_only": entry.read_only,
        "fence": entry.fence,
        "lease_until": None if entry.lease_until is None else _time(entry.lease_until),
        "result": entry.result,
        "problem": entry.problem,
        "created": _time(entry.created),
        "changed": _time(entry.updated),
    }


def _time(micros: int) -> str:
    """ISO 8601, in UTC, to the second."""
    return datetime.fromtimestamp(micros // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
