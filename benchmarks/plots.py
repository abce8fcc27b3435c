"""The plots of a book, as SVG.

Rules
 - The same book gives the same bytes: no date, no random ids, text as text.
 - Time is on a logarithmic axis that begins at a power of ten: the contestants lie orders of magnitude apart.
 - trigate is dark, the others are light, and floors, which do less than the task, are grey.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import figures
from book import Book

__all__ = ["draw"]

Values = dict[str, list[float | None]]

_OURS, _THEIRS, _FLOOR, _LINES = "#1f4e79", "#9db8d1", "#d0d0d0", "#e5e5e5"
_HATCHES = ("", "///")

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "trigate", "svg.fonttype": "none", "font.size": 9})


def colour(name: str, floors: set[str]) -> str:
    if name.startswith(figures.OURS):
        return _OURS
    return _FLOOR if name in floors else _THEIRS


def panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height), layout="constrained")
    made: Any = figure.subplots(rows, columns, squeeze=False)
    return figure, list(made.flat)


def bars(axes: Axes, values: Values, series: tuple[str, ...], floors: set[str], unit: str) -> None:
    """A group of bars for each name, the least on top; a bar for each series."""
    ranked = sorted(values, key=lambda name: values[name][0] or 0)
    height = 0.8 / len(series)
    for place, name in enumerate(ranked):
        for number, value in enumerate(values[name]):
            if value is not None:
                middle = place + (number - (len(series) - 1) / 2) * height
                look: dict[str, Any] = {
                    "color": colour(name, floors),
                    "edgecolor": "white",
                    "hatch": _HATCHES[number],
                }
                axes.barh(middle, value, height, **look)
    axes.set_yticks(range(len(ranked)), ranked)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.grid(axis="x", color=_LINES)
    axes.set_axisbelow(True)
    if len(series) > 1:
        for number, told in enumerate(series):
            axes.barh(0, 0, color=_THEIRS, edgecolor="white", hatch=_HATCHES[number], label=told)


def explain(figure: Figure, axes: Axes) -> None:
    """One legend over all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels), frameon=False)


def from_a_power_of_ten(axes: Axes, values: Values) -> None:
    found = [value for row in values.values() for value in row if value is not None]
    if found:  # a run of a part has panels without bars
        axes.set_xscale("log")
        axes.set_xlim(left=10 ** math.floor(math.log10(min(found))))


def sse(book: Book) -> Figure:
    figure, (axes,) = panels(1, 1, 8, 4.5)
    chunkings = ("64 KiB", "one event")
    values = {
        name: [figures.mean_value(book, "sse", chunking, name) for chunking in chunkings]
        for name in figures.names(book.of("sse"))
    }
    series = tuple(f"{told} a chunk" for told in chunkings)
    bars(axes, values, series, set(), "ns an event, geometric mean over the streams")
    from_a_power_of_ten(axes, values)
    explain(figure, axes)
    return figure


def calls(book: Book) -> Figure:
    figure, made = panels(2, 2, 12, 7.5)
    shapes = ("long, 64 KiB", "long, one event")
    for axes, protocol in zip(made, figures.SDKS, strict=True):
        rows = [row for row in book.of("calls") if row.case.startswith(protocol)]
        floors = {row.name for row in rows if row.facts.get("floor")}
        values = {
            name: [book.value("calls", f"{protocol}, {shape}", name) for shape in shapes]
            for name in figures.names(rows)
        }
        bars(axes, values, ("64 KiB a chunk", "one event a chunk"), floors, "ns a delta")
        from_a_power_of_ten(axes, values)
        axes.set_title(protocol, loc="left")
    explain(figure, made[0])
    return figure


def chunk(book: Book) -> Figure:
    figure, made = panels(2, 2, 12, 6)
    low = [row for row in book.of("chunk", "one object") if row.facts["floor"]]
    floors: Values = {row.name: [row.value] for row in low}
    for axes, protocol in zip(made, figures.SDKS, strict=True):
        rows = [row for row in book.of("chunk") if row.name == protocol]
        values: Values = {f"{figures.OURS}: {row.case}": [row.value] for row in rows} | floors
        bars(axes, values, ("",), set(floors), "ns a chunk")
        from_a_power_of_ten(axes, values)
        axes.set_title(protocol, loc="left")
    return figure


def drip(book: Book) -> Figure:
    figure, made = panels(1, 2, 12, 4.5)
    for axes, protocol in zip(made, ("openai-responses", "anthropic-messages"), strict=True):
        rows = [row for row in book.of("drip") if row.case.startswith(protocol)]
        sizes = {row.facts["size"]: row.case.rpartition(", ")[2] for row in rows}
        for name in figures.names(rows):
            timed = [row for row in rows if row.name == name and row.value is not None]
            is_ours = name.startswith(figures.OURS)
            axes.plot(
                [row.facts["size"] for row in timed],
                [row.value or 0 for row in timed],
                marker="o",
                color=_OURS if is_ours else None,
                linestyle="--" if name == figures.QUIET else "-",
                linewidth=2.5 if is_ours else 1,
                label=name,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(list(sizes), list(sizes.values()))
        axes.minorticks_off()
        axes.set_xlabel("the argument")
        axes.set_ylabel("ns a byte of it")
        axes.set_title(protocol, loc="left")
        axes.grid(color=_LINES)
        axes.legend(frameon=False, fontsize=7)
    return figure


def core(book: Book) -> Figure:
    figure, made = panels(1, 2, 12, 3)
    for axes, place in zip(made, ("past the cache", "in the cache"), strict=True):
        rows = [row for row in book.of("core") if row.case.endswith(place)]
        values: Values = {
            name if name.startswith("mem") else f"{figures.OURS}: {name}": [
                figures.mean_value(book, "core", place, name)
            ]
            for name in figures.names(rows)
        }
        bars(axes, values, ("",), set(), "GB/s, geometric mean over the protocols")
        axes.set_title(place, loc="left")
    return figure


_PLOTS: dict[str, Callable[[Book], Figure]] = {
    "sse": sse,
    "calls": calls,
    "chunk": chunk,
    "drip": drip,
    "core": core,
}


def draw(book: Book, folder: Path) -> None:
    """A file for each group that has rows."""
    for group, plot in _PLOTS.items():
        if book.of(group):
            plot(book).savefig(folder / f"{group}.svg", metadata={"Date": None})
