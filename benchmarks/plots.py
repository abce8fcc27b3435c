"""The plots of a book, as SVG.

Rules
 - The same book gives the same bytes: no date, no random ids, text as text.
 - Time is on a logarithmic axis: the contestants lie orders of magnitude apart. trigate is dark, the others are not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import figures
from book import Book

__all__ = ["draw"]

_OURS, _THEIRS, _FLOOR = "#1f4e79", "#9db8d1", "#d0d0d0"
_HATCHES = ("", "///")

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "trigate", "svg.fonttype": "none", "font.size": 9})


def colour(name: str, floors: set[str]) -> str:
    if name.startswith(figures.OURS):
        return _OURS
    return _FLOOR if name in floors else _THEIRS


def bars(
    axes: Axes, values: dict[str, list[float | None]], series: tuple[str, ...], floors: set[str], unit: str
) -> None:
    """A group of bars for each name, slowest at the bottom; a bar for each series."""
    ranked = sorted(values, key=lambda name: max((v for v in values[name] if v is not None), default=0))
    height = 0.8 / len(series)
    for place, name in enumerate(ranked):
        for number, value in enumerate(values[name]):
            if value is not None:
                axes.barh(
                    place + (number - (len(series) - 1) / 2) * height,
                    value,
                    height,
                    color=colour(name, floors),
                    edgecolor="white",
                    hatch=_HATCHES[number],
                )
    axes.set_yticks(range(len(ranked)), ranked)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(unit)
    axes.grid(axis="x", color="#e5e5e5")
    axes.set_axisbelow(True)
    for number, told in enumerate(series):
        axes.barh(0, 0, color=_THEIRS, edgecolor="white", hatch=_HATCHES[number], label=told)
    axes.legend(loc="lower right", frameon=False)


def panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height), layout="constrained")
    made: Any = figure.subplots(rows, columns, squeeze=False)
    return figure, list(made.flat)


def sse(book: Book) -> Figure:
    figure, (axes,) = panels(1, 1, 8, 4.5)
    series = ("64 KiB", "one event")
    values = {
        name: [figures.mean_value(book, "sse", chunking, name) for chunking in series]
        for name in figures.names(book.of("sse"))
    }
    bars(axes, values, tuple(f"{told} a chunk" for told in series), set(), "ns an event, geometric mean")
    return figure


def calls(book: Book) -> Figure:
    figure, made = panels(2, 2, 12, 7)
    series = ("long, 64 KiB", "long, one event")
    for axes, protocol in zip(made, figures.SDKS, strict=True):
        rows = [row for row in book.of("calls") if row.case.startswith(protocol)]
        floors = {row.name for row in rows if row.facts.get("floor")}
        values = {
            name: [book.value("calls", f"{protocol}, {shape}", name) for shape in series]
            for name in figures.names(rows)
        }
        bars(axes, values, ("64 KiB a chunk", "one event a chunk"), floors, "ns a delta")
        axes.set_title(protocol)
    return figure


def chunk(book: Book) -> Figure:
    figure, made = panels(2, 2, 12, 6)
    floors = {f"{row.name}" for row in book.of("chunk") if row.facts["floor"]}
    low = {
        row.name: [row.value] for row in book.of("chunk") if row.name in floors and row.case == "one object"
    }
    for axes, protocol in zip(made, figures.SDKS, strict=True):
        rows = [row for row in book.of("chunk") if row.name == protocol]
        own = {f"{figures.OURS}: {row.case}": [row.value] for row in rows}
        bars(axes, {**own, **low}, ("one chunk",), floors, "ns a chunk")
        axes.set_title(protocol)
    return figure


def drip(book: Book) -> Figure:
    figure, made = panels(1, 2, 12, 4.5)
    for axes, protocol in zip(made, ("openai-responses", "anthropic-messages"), strict=True):
        rows = [row for row in book.of("drip") if row.case.startswith(protocol)]
        for name in figures.names(rows):
            own = [row for row in rows if row.name == name and row.value is not None]
            axes.plot(
                [row.facts["size"] / 1024 for row in own],
                [row.value or 0 for row in own],
                marker="o",
                linewidth=2.5 if name.startswith(figures.OURS) else 1,
                label=name,
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("KiB of the argument")
        axes.set_ylabel("ns a byte")
        axes.set_title(protocol)
        axes.grid(color="#e5e5e5")
        axes.legend(frameon=False, fontsize=7)
    return figure


def core(book: Book) -> Figure:
    figure, made = panels(1, 2, 12, 3.5)
    for axes, place in zip(made, ("past the cache", "in the cache"), strict=True):
        rows = [row for row in book.of("core") if row.case.endswith(place)]
        lanes = figures.names(rows)
        values: dict[str, list[float | None]] = {
            name if name.startswith("mem") else f"{figures.OURS}: {name}": [
                figures.mean_value(book, "core", place, name)
            ]
            for name in lanes
        }
        bars(axes, values, ("geometric mean over the protocols",), set(), "GB/s")
        axes.set_title(place)
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
