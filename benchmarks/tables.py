"""The pages and tables of a book, in Markdown.

Rules
 - Each group is a page: what it asks, a short table of ratios, the whole table, and how it was measured.
 - A contestant that was not timed is told with the reason, in the cell where its figure would stand.
 - A floor is marked with an asterisk: it does less than the task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import figures
from book import Book, Row

__all__ = ["PAGES", "asked", "is_whole", "number", "pages", "said", "summary"]

CHUNKINGS = ("64 KiB", "one event")
SHAPES = ("long, 64 KiB", "long, one event", "short, one event")
_NOT = "-"


def said(book: Book) -> str:
    """Where, when and how: under every table."""
    most = max((row.rounds for row in book.rows), default=0)
    return f"{book.date}, {book.machine}; medians of up to {most} rounds, the {book.plan} run."


def number(value: float | None) -> str:
    """Three digits that count, and no more."""
    if value is None:
        return _NOT
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def ratio(value: float | None) -> str:
    return _NOT if value is None else f"{number(value)} times"


def marked(row: Row) -> str:
    return f"{row.name} *" if row.facts.get("floor") else row.name


def cell(row: Row | None) -> str:
    if row is None:
        return _NOT
    return row.state if row.value is None else number(row.value)


def shown(case: str, heading: str) -> str:
    return case.replace(heading, "").strip(", ") if heading else case


def grid(book: Book, group: str, cases: Sequence[str], heading: str = "") -> str:
    """Every contestant in every case. What the heading says already is not said again."""
    rows = [row for row in book.of(group) if row.case in cases]
    found = {(row.name, row.case): row for row in rows}
    head = [rows[0].unit if rows else "", *(shown(case, heading) for case in cases)]
    marks = {row.name: marked(row) for row in rows}
    lines = ([marks[name], *(cell(found.get((name, case))) for case in cases)] for name in marks)
    return table(head, lines)


# -- the groups ----------------------------------------------------------------------------------------


def sse(book: Book) -> str:
    short = []
    for name in sorted(figures.names(book.of("sse")), key=lambda name: name == figures.APART):
        values = [figures.mean_value(book, "sse", chunking, name) for chunking in CHUNKINGS]
        ratios = [
            None if name == figures.APART else figures.mean_times(book, "sse", chunking, name)
            for chunking in CHUNKINGS
        ]
        cells = [number(values[0]), ratio(ratios[0]), number(values[1]), ratio(ratios[1])]
        short.append([figures.versions_of(book, name), *cells])
    head = ["", "64 KiB: ns an event", "of trigate's", "one event: ns an event", "of trigate's"]
    parts = ["Geometric means over the streams that a contestant reads right:", table(head, short)]
    for chunking in CHUNKINGS:
        parts += [f"## {chunking}", grid(book, "sse", figures.cases(book, "sse", chunking), chunking)]
    parts.append(f"{figures.APART} takes no turns with the others: no ratio is made of its figure.")
    return "\n\n".join(parts)


def calls(book: Book) -> str:
    parts = []
    for shape in SHAPES:
        if not figures.cases(book, "calls", shape):
            continue
        parts.append(f"## {shape}")
        parts.append(grid(book, "calls", figures.cases(book, "calls", shape), shape))
        parts.append(_ratios(book, "calls", shape))
    if book.of("recorded"):
        parts += ["## Recorded streams, a parser each", _recorded(book)]
    parts.append("\\* a floor: it does less than the task, on purpose.")
    return "\n\n".join(parts)


def _ratios(book: Book, group: str, shape: str) -> str:
    names = [name for name in figures.names(book.of(group)) if name != figures.OURS]
    found = figures.cases(book, group, shape)
    head = ["of trigate's", *(shown(case, shape) for case in found)]
    return table(
        head, ([name, *(ratio(figures.times(book, group, case, name)) for case in found)] for name in names)
    )


def _recorded(book: Book) -> str:
    head = ["protocol", "", "reads right", "ns an event", "trigate on the same", "of trigate's"]
    lines = []
    for row in book.of("recorded"):
        facts = row.facts
        times = None if row.value is None else row.value / facts["own"]
        read = _NOT if facts["floor"] else f"{facts['right']} of {facts['of']}"
        lines.append([row.case, marked(row), read, cell(row), number(facts["own"]), ratio(times)])
    return table(head, lines)


def chunk(book: Book) -> str:
    real = [row for row in book.of("chunk") if not row.facts["floor"]]
    floors = [row for row in book.of("chunk") if row.facts["floor"]]
    parts = [grid(book, "chunk", figures.cases_of(real)), "## What a call costs before it does anything"]
    parts.append(grid(book, "chunk", figures.cases_of(floors)))
    parts.append('"half a delta" calls another parser each time; compare it with "an object a call".')
    return "\n\n".join(parts)


def drip(book: Book) -> str:
    parts = []
    for protocol in ("openai-responses", "anthropic-messages"):
        found = [case for case in figures.cases(book, "drip") if case.startswith(protocol)]
        parts += [f"## {protocol}", grid(book, "drip", found, protocol)]
        lines = []
        for name in figures.names(book.of("drip")):
            if (growth := figures.drip_growth(book, protocol, name)) is not None:
                times, small, large = growth
                lines.append([name, f"{large} over {small}", number(times)])
        parts.append(table(["growth of the cost of a byte", "sizes", "times"], lines))
    return "\n\n".join(parts)


def memory(book: Book) -> str:
    fresh = table(
        ["a fresh parser", "bytes resident", "bytes that Python's allocators see"],
        ([row.name, number(row.value), number(row.facts["traced"])] for row in book.of("memory", "fresh")),
    )
    held = table(
        ["open streams, in the middle of a response", "bytes each", "MiB together"],
        (
            [
                f"{row.name}, {row.facts['count']:,}",
                number(row.value),
                number(row.facts["total"] / 1024 / 1024),
            ]
            for row in book.of("memory", "open")
        ),
    )
    grown = table(
        ["one delta more", "bytes", "of which text"],
        ([row.name, number(row.value), number(row.facts["text"])] for row in book.of("memory", "growth")),
    )
    return "\n\n".join((fresh, held, grown))


def core(book: Book) -> str:
    parts = []
    for place in ("past the cache", "in the cache"):
        rows = [row for row in book.of("core") if row.case.endswith(place)]
        if not rows:
            continue
        size, cache = size_of(rows[0].facts["bytes"]), rows[0].facts["cache"]
        told = size_of(cache) if cache else "a size that this machine does not tell"
        parts.append(f"## {place.capitalize()}: {size}; the last-level cache has {told}")
        parts.append(grid(book, "core", figures.cases(book, "core", place), place))
        shares = ([name, number(figures.share_of_memcpy(book, place, name))] for name in figures.names(rows))
        parts.append(table(["share of memcpy's speed", "geometric mean"], shares))
        if any(_ns_an_event(row) for row in rows):
            parts.append(_events(book, place))
    parts.append(
        "Template hits: events that are taken by the template of the first of them, from a stream that goes round, with"
        " its sequence numbers set back each time. Pick: the places of text in the bare data, without a template; its"
        " GB/s are those of the data alone."
    )
    return "\n\n".join(parts)


def _ns_an_event(row: Row) -> float | None:
    value: float | None = row.facts.get("ns an event")
    return value


def _events(book: Book, place: str) -> str:
    """The lanes that count events."""
    found = figures.cases(book, "core", place)
    rows = [row for row in book.of("core") if row.case in found]
    values = {(row.name, row.case): _ns_an_event(row) for row in rows}
    names = [name for name in figures.names(rows) if any(values.get((name, case)) for case in found)]
    head = ["ns an event", *(shown(case, place) for case in found)]
    return table(head, ([name, *(number(values.get((name, case))) for case in found)] for name in names))


def size_of(count: int) -> str:
    return f"{count / 1024 / 1024:,.0f} MiB" if count >= 1024 * 1024 else f"{count / 1024:.0f} KiB"


def asked(book: Book) -> str:
    lines = []
    for figure in figures.ASKED:
        lesser = None if figure.lesser is None else figure.measure(book, figure.lesser)
        lines.append([figure.what, figure.asked, number(figure.measure(book, figures.OURS)), number(lesser)])
    head = ["figure", "asked", "measured", "with deltas=False, or text not asked for"]
    return table(head, lines)


PAGES: dict[str, tuple[str, Callable[[Book], str], str]] = {
    "sse": ("SSE events", sse, "sse.svg"),
    "calls": ("Bytes to calls", calls, "calls.svg"),
    "chunk": ("Per chunk", chunk, "chunk.svg"),
    "drip": ("Drip: one argument in pieces of 16 bytes", drip, "drip.svg"),
    "memory": ("Memory", memory, ""),
    "core": ("The core alone", core, "core.svg"),
}


def has_page(book: Book, group: str) -> bool:
    return bool(book.of(group)) or (group == "calls" and bool(book.of("recorded")))


def is_whole(book: Book) -> bool:
    """Whether every group was measured; recorded streams may be missing, for not everybody has them."""
    return all(book.of(group) for group in PAGES) and _has_sse(book)


def pages(book: Book) -> dict[str, str]:
    """The text of each page, by the name of its file."""
    made = {}
    for group, (title, page, plot) in PAGES.items():
        if not has_page(book, group):
            continue
        picture = f"![{title}]({plot})\n\n" if plot and book.of(group) else ""
        page_and_versions = f"{page(book)}\n\n{versions(book, group)}".rstrip()
        made[f"{group}.md"] = (
            f"# {title}\n\nWritten by the benchmarks. {said(book)}\n\n{picture}{page_and_versions}\n"
        )
    made["asked.md"] = f"# Asked and measured\n\n{said(book)}\n\n{asked(book)}\n{_absent(book)}"
    return made


def versions(book: Book, group: str) -> str:
    """Which versions the page is about."""
    told = {
        row.name: row.versions
        for row in (*book.of(group), *(book.of("recorded") if group == "calls" else ()))
        if row.versions and (row.name == figures.OURS or not row.name.startswith(figures.OURS))
    }
    if group in ("chunk", "memory"):
        told = {figures.OURS: next(iter(told.values()), "")}
    return "Versions: " + "; ".join(f"{name}: {value}" for name, value in told.items()) if told else ""


def _absent(book: Book) -> str:
    if not book.absent:
        return ""
    return "\nNot measured here:\n\n" + "".join(f"- {name}: {why}\n" for name, why in book.absent.items())


# -- the README's ----------------------------------------------------------------------------------------


def summary(book: Book) -> str:
    """The few figures that the README quotes."""
    parts = (_summary_sse(book), _summary_calls(book), _summary_rest(book), said(book))
    return "\n\n".join(part for part in parts if part)


def _has_sse(book: Book) -> bool:
    """Node's rows alone are not that group."""
    return any(row.name == figures.OURS for row in book.of("sse"))


def _summary_sse(book: Book) -> str:
    if not _has_sse(book):
        return ""
    peers = ("httpx-sse", "openai", "anthropic")
    head = ["SSE events", figures.versions_of(book, figures.OURS)]
    lines = []
    for chunking in CHUNKINGS:
        own = figures.mean_value(book, "sse", chunking, figures.OURS)
        ratios = [ratio(figures.mean_times(book, "sse", chunking, name)) for name in peers]
        lines.append([f"{chunking} a chunk", f"{number(own)} ns an event", *ratios])
    return table([*head, *(figures.versions_of(book, name) for name in peers)], lines)


def _summary_calls(book: Book) -> str:
    if not book.of("calls"):
        return ""
    head = ["bytes to calls", figures.versions_of(book, figures.OURS), "the provider's SDK"]
    head += ["httpx-sse + orjson by hand", "orjson alone, no framing"]
    lines = []
    for protocol, sdk in figures.SDKS.items():
        for shape in ("long, 64 KiB", "long, one event"):
            case = f"{protocol}, {shape}"
            own = book.value("calls", case, figures.OURS)
            others = [figures.times(book, "calls", case, name) for name in (sdk, *figures.REFERENCES)]
            lines.append(
                [f"{protocol}, {shape.partition(', ')[2]} a chunk", f"{number(own)} ns a delta"]
                + [ratio(value) for value in others]
            )
    return table(head, lines)


def _summary_rest(book: Book) -> str:
    lines = []
    heaviest = max((row.value or 0 for row in book.of("memory", "fresh")), default=0)
    if heaviest:
        lines.append(f"- a fresh parser weighs {heaviest / 1024:.1f} KiB at most")
    opened = max((row.facts["total"] for row in book.of("memory", "open")), default=0)
    if opened:
        count = book.of("memory", "open")[0].facts["count"]
        lines.append(
            f"- {count:,} open streams in the middle of a response take {opened / 2**20:,.0f} MiB at most"
        )
    growths = [figures.drip_growth(book, protocol, figures.OURS) for protocol in figures.SDKS]
    if found := [growth for growth in growths if growth is not None]:
        times, small, large = max(found)
        lines.append(
            f"- a byte of a {large} argument in 16-byte pieces costs {number(times)} times one of {small}"
        )
    return "\n".join(lines)
