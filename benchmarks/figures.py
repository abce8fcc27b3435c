"""What the rows of a book come to: ratios, means, and the figures that were asked for.

Rules
 - A ratio is another's figure over trigate's in the same case: how many times as long it takes.
 - A mean of ratios is geometric, over the cases in which both were timed.
 - What was not measured is None, and is shown so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from book import Book, Row

__all__ = [
    "APART",
    "ASKED",
    "HITS",
    "OURS",
    "QUIET",
    "REFERENCES",
    "SDKS",
    "UNASKED",
    "Asked",
    "cases",
    "cases_of",
    "drip_growth",
    "geometric_mean",
    "mean_times",
    "mean_value",
    "names",
    "recorded_times",
    "share_of_memcpy",
    "times",
    "versions_of",
]

OURS = "trigate"
QUIET = "trigate, deltas=False"
UNASKED = "trigate, text not asked for"
BY_HAND = "httpx-sse + orjson by hand"
ORJSON = "orjson alone"
#: Beside what no library did: what one would write, and what parsing alone costs.
REFERENCES = (BY_HAND, ORJSON)
#: Runs in a process and a language of its own, and takes no turns: its figure stands apart, without a ratio.
APART = "eventsource-parser in node"
#: The lane of the core that this is all about: deltas that are taken by their template (c/hits.c).
HITS = "template hits"
#: The provider's own library, by protocol.
SDKS = {
    "openai-responses": "openai",
    "openai-chat": "openai",
    "anthropic-messages": "anthropic",
    "gemini": "google-genai",
}


def geometric_mean(values: Iterable[float]) -> float | None:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def cases(book: Book, group: str, ending: str = "") -> list[str]:
    """The cases of a group whose names end so, in their order."""
    return cases_of(row for row in book.of(group) if row.case.endswith(ending))


def cases_of(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row.case for row in rows))


def names(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row.name for row in rows))


def versions_of(book: Book, name: str) -> str:
    """`name 1.2.3`; what has several versions, or none, is its name alone."""
    versions = next((row.versions for row in book.rows if row.name == name and row.versions), "")
    if name.startswith(OURS):
        return f"{OURS} {versions}{name.removeprefix(OURS)}"
    return name if not versions or ", " in versions else f"{name} {versions}"


def times(book: Book, group: str, case: str, name: str, own: str = OURS) -> float | None:
    theirs, ours = book.value(group, case, name), book.value(group, case, own)
    return None if theirs is None or ours is None else theirs / ours


def mean_times(book: Book, group: str, ending: str, name: str, own: str = OURS) -> float | None:
    """The geometric mean over the cases that end so."""
    found = [times(book, group, case, name, own) for case in cases(book, group, ending)]
    return geometric_mean(ratio for ratio in found if ratio is not None)


def mean_value(book: Book, group: str, ending: str, name: str) -> float | None:
    found = [book.value(group, case, name) for case in cases(book, group, ending)]
    return geometric_mean(value for value in found if value is not None)


def recorded_times(book: Book, protocol: str, name: str, own: str = OURS) -> float | None:
    """Over the recordings that the peer reads right. deltas=False is put in by its ratio to the default."""
    row = next((row for row in book.of("recorded", protocol) if row.name == name), None)
    if row is None or row.value is None:
        return None
    ratio: float = row.value / row.facts["own"]
    if own == OURS:
        return ratio
    quicker = times(book, "recorded", protocol, own)
    return None if quicker is None else ratio / quicker


def drip_growth(book: Book, protocol: str, name: str) -> tuple[float, str, str] | None:
    """The cost of a byte at the largest size over that at the smallest, and the two sizes."""
    rows = [row for row in book.of("drip") if row.case.startswith(protocol) and row.name == name]
    timed = sorted((row for row in rows if row.value is not None), key=lambda row: row.facts["size"])
    if len(timed) < 2 or timed[0].value is None or timed[-1].value is None:
        return None
    small, large = (row.case.rpartition(", ")[2] for row in (timed[0], timed[-1]))
    return timed[-1].value / timed[0].value, small, large


def share_of_memcpy(book: Book, place: str, lane: str) -> float | None:
    """The geometric mean over the protocols of a lane's speed as a share of memcpy's."""
    return mean_times(book, "core", place, lane, own="memcpy")


# -- what was asked for --------------------------------------------------------------------------------

Measure = Callable[[Book, str], float | None]


@dataclass(frozen=True)
class Asked:
    """measure takes the book and which row of trigate is meant: the default, or the one that says less."""

    what: str
    asked: str
    measure: Measure
    lesser: str | None = QUIET


def _sse(chunks: str) -> Measure:
    return lambda book, own: mean_times(book, "sse", chunks, "httpx-sse", own)


def _calls(chunks: str, name: str, protocol: str = "") -> Measure:
    def measure(book: Book, own: str) -> float | None:
        if protocol:
            return times(book, "calls", f"{protocol}, {chunks}", name, own)
        return mean_times(book, "calls", chunks, name, own)

    return measure


def _recorded(protocol: str, book: Book, own: str) -> float | None:
    return recorded_times(book, protocol, SDKS[protocol], own)


def _drip(protocol: str, book: Book, own: str) -> float | None:
    found = drip_growth(book, protocol, own)
    return None if found is None else found[0]


def _hits(book: Book, _: str) -> float | None:
    return share_of_memcpy(book, "past the cache", HITS)


_FAST, _LIVE = "long, 64 KiB", "long, one event"
ASKED = (
    Asked("SSE events, 64 KiB chunks: times httpx-sse", "30 or more", _sse("64 KiB"), UNASKED),
    Asked("SSE events, one event a chunk: times httpx-sse", "10 or more", _sse("one event"), UNASKED),
    Asked(
        "bytes to calls, long, 64 KiB chunks: times openai `responses.stream`",
        "3,000 or more",
        _calls(_FAST, "openai", "openai-responses"),
    ),
    Asked(
        "bytes to calls, long, 64 KiB chunks: times anthropic `messages.stream`",
        "1,500 or more",
        _calls(_FAST, "anthropic", "anthropic-messages"),
    ),
    Asked(
        "bytes to calls, long, 64 KiB chunks: times httpx-sse + orjson by hand",
        "100 or more",
        _calls(_FAST, BY_HAND),
    ),
    Asked(
        "bytes to calls, long, 64 KiB chunks: times orjson.loads of the bare payloads",
        "18 or more",
        _calls(_FAST, ORJSON),
    ),
    Asked(
        "bytes to calls, one event a chunk: times openai `responses.stream`",
        "700 or more",
        _calls(_LIVE, "openai", "openai-responses"),
    ),
    Asked(
        "bytes to calls, one event a chunk: times openai `chat.completions.stream`",
        "700 or more",
        _calls(_LIVE, "openai", "openai-chat"),
    ),
    Asked(
        "bytes to calls, one event a chunk: times anthropic `messages.stream`",
        "200 or more",
        _calls(_LIVE, "anthropic", "anthropic-messages"),
    ),
    *(
        Asked(
            f"recorded {protocol} streams, set-up included: times {sdk}",
            "150 or more",
            partial(_recorded, protocol),
        )
        for protocol, sdk in SDKS.items()
    ),
    Asked("the core alone, template hits, past the cache: share of memcpy", "0.4 or more", _hits, None),
    *(
        Asked(
            f"{protocol}: a byte of the longest argument in small pieces over one of the shortest",
            "1.1 or less",
            partial(_drip, protocol),
        )
        for protocol in ("openai-responses", "anthropic-messages")
    ),
)
