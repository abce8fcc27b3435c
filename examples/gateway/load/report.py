"""The load test's figures as they stand in the example's README: a table and a plot.

Rule: it writes load.svg, and in the README between two marks and nowhere else.
"""

from __future__ import annotations

import datetime
import platform
from pathlib import Path
from statistics import median
from typing import Any

__all__ = ["write"]

_BEGIN, _END = "<!-- figures: written by load/measure.py --write -->", "<!-- end of figures -->"
_NAMES = {
    "plain": "bytes through, nothing else",
    "tap": "watched by a Tap",
    "gate": "watched, calls held by a CallGate",
    "json": "json.loads of each event",
}


def write(result: dict[str, Any], runs: list[dict[str, Any]], folder: Path) -> None:
    page = folder / "README.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    page.write_text(f"{before}{_BEGIN}\n{table(result, len(runs))}\n{_END}{after}", encoding="utf-8")
    plot(runs, folder / "load.svg")


def table(result: dict[str, Any], count: int) -> str:
    plan, tally, plain = result["plan"], result["tally"], result["modes"]["plain"]
    lines = [
        "| mode | CPU an event | against plain | memory a stream |",
        "| --- | --- | --- | --- |",
    ]
    for mode, figures in result["modes"].items():
        ratio = figures["cpu_us_per_event"] / plain["cpu_us_per_event"] - 1
        lines.append(
            f"| {_NAMES[mode]} | {figures['cpu_us_per_event']:.1f} us | {ratio:+.1%} "
            f"| {figures['memory_kib_per_stream']:.1f} KiB |"
        )
    streams, ended = tally["ended"] + tally["killed"] + tally["left"], tally["ended"]
    told = (
        f"{count} runs of {plan['count']:,} streams at once, {plan['pace']:g} events a second in each: {streams:,} "
        f"streams, {tally['events']:,} events. Of {ended:,} streams that ended well {tally['not identical']} differed "
        f"by a byte, {tally['calls lost']} calls were lost, {tally['calls doubled']} doubled. {tally['killed']:,} were "
        f"reset by the upstream, {tally['left']:,} left by the client: {tally['calls of cut streams']} calls of them "
        f"could run, {tally['cut taken for an end']} looked ended."
    )
    machine = (
        f"{datetime.date.today()}, {platform.system()}, CPython {platform.python_version()}, "
        "two cores for all three processes."
    )
    return "\n".join([*lines, "", told, "", machine])


def plot(runs: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3))
    for at, mode in enumerate(_NAMES):
        costs = [one["cpu_us_per_event"] for one in runs if one["mode"] == mode]
        axes.barh(at, median(costs), color="#4c78a8", height=0.6)
        axes.plot(costs, [at] * len(costs), "k.", markersize=5)
    axes.set_yticks(range(len(_NAMES)), list(_NAMES.values()))
    axes.invert_yaxis()
    axes.set_xlabel("CPU of the gateway, microseconds an event (dots: single rounds)")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
