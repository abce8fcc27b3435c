"""JSONTracker: the vectors of json_boundary.json in both views, at every cut, and what a value's end means.

A text counts as whole at its last byte and never before: `{"amount": 100` is no beginning that may run.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cuts
from trigate import JSONTracker, LimitError

if TYPE_CHECKING:
    from typing_extensions import Buffer

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors" / "json_boundary.json").read_text(encoding="ascii")
)
TEXTS = {vector["name"]: base64.b64decode(vector["text_b64"]) for vector in VECTORS}
DEEP = 10**6
VIEWS = pytest.mark.parametrize("strict", [True, False], ids=["strict", "structural"])
each_vector = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])

Reading = tuple[str, str, int, int, "int | None", "int | None", bool]


def read(pieces: Iterable[str | Buffer], *, strict: bool, max_depth: int = DEEP) -> Reading:
    """All that a caller can see after these pieces and the end of the text."""
    tracker = JSONTracker(strict=strict, max_depth=max_depth)
    for piece in pieces:
        assert tracker.feed(piece) == tracker.state
    state = tracker.state
    final = tracker.finish()
    assert final == tracker.state
    return (
        state,
        final,
        tracker.depth,
        tracker.max_depth_seen,
        tracker.closed_at,
        tracker.error_at,
        tracker.lone_surrogate,
    )


def row(vector: dict[str, Any], strict: bool) -> dict[str, Any]:
    chosen: dict[str, Any] = vector if strict else vector["structural"]
    return chosen


def test_all_vectors_are_here() -> None:
    assert len(VECTORS) == len(TEXTS) == 581


@VIEWS
@each_vector
def test_prefix_states(vector: dict[str, Any], strict: bool) -> None:
    text = TEXTS[vector["name"]]
    tracker = JSONTracker(strict=strict, max_depth=DEEP)
    fed = 0
    for place, state in row(vector, strict)["prefix_states"]:
        assert tracker.feed(text[fed:place]) == tracker.state
        fed = place
        # The vectors know no "empty" before the end: white space alone is open there.
        is_blank = not text[:place].strip(b" \t\r\n")
        assert tracker.state == ("empty" if is_blank and state == "open" else state), place


@VIEWS
@each_vector
def test_values(vector: dict[str, Any], strict: bool) -> None:
    expected = row(vector, strict)
    tracker = JSONTracker(strict=strict, max_depth=DEEP)
    tracker.feed(TEXTS[vector["name"]])
    assert tracker.finish() == expected["final"]
    assert tracker.closed_at == expected["closed_at"]
    assert tracker.max_depth_seen == expected["max_depth"]


@VIEWS
@each_vector
def test_every_cut_is_equal(vector: dict[str, Any], strict: bool) -> None:
    text = TEXTS[vector["name"]]
    whole = read([text], strict=strict)
    for pieces in cuts.every(text, vector["name"]):
        assert read(pieces, strict=strict) == whole, [len(piece) for piece in pieces]
    assert read([bytearray(text), memoryview(b""), b""], strict=strict) == whole


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@VIEWS
@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if is_utf8(text)])
def test_str_is_its_utf8(name: str, strict: bool) -> None:
    raw = TEXTS[name]
    text = raw.decode()
    whole = read([raw], strict=strict)
    assert read([text], strict=strict) == whole
    assert read(cuts.singly(text), strict=strict) == whole
    for pieces in cuts.at_random(text, name):
        assert read(pieces, strict=strict) == whole
    assert read([text[:3], text[3:5].encode(), text[5:]], strict=strict) == whole


@VIEWS
@each_vector
def test_error_at_is_where_it_breaks(vector: dict[str, Any], strict: bool) -> None:
    """The bytes before error_at are still fine; one byte more is not."""
    text = TEXTS[vector["name"]]
    *_, error_at, _ = read([text], strict=strict)
    tracker = JSONTracker(strict=strict, max_depth=DEEP)
    if error_at is None:
        assert row(vector, strict)["final"] in ("closed", "open", "empty")
        return
    assert tracker.feed(text[:error_at]) in ("empty", "open", "closed")
    assert tracker.error_at is None
    assert tracker.feed(text[error_at : error_at + 1]) == row(vector, strict)["final"]
    assert tracker.error_at == error_at
    # Nothing that follows changes it.
    assert tracker.feed(b' }]"') == row(vector, strict)["final"]
    assert tracker.error_at == error_at


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@VIEWS
@given(value=VALUES, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]), data=st.data())
def test_closed_at_the_end_and_never_before(
    strict: bool, value: object, ascii_only: bool, indent: int | None, data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    state, final, depth, _, closed_at, error_at, _ = read(cuts.at(text, places), strict=strict)
    assert (final, depth, closed_at, error_at) == ("closed", 0, len(text), None)
    is_self_ending = isinstance(value, (dict, list, str)) or (
        strict and (value is None or isinstance(value, bool))
    )
    assert state == ("closed" if is_self_ending else "open")
    tracker = JSONTracker(strict=strict)
    for byte in cuts.singly(text[:-1]):
        assert tracker.feed(byte) == "open"
    if is_self_ending:
        assert tracker.finish() == "open"


@given(text=st.text(alphabet='{}[]",:\\ntrue10.eE+-fals u\n\u00e9', max_size=40))
def test_strict_agrees_with_the_json_module(text: str) -> None:
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        json.loads(text, parse_constant=refuse)
        is_json = True
    except ValueError:
        is_json = False
    _, final, *_ = read([text], strict=True)
    assert (final == "closed") == is_json


@pytest.mark.parametrize(
    ("escapes", "is_lone"),
    [
        (r"\ud83d\ude00", False),
        (r"\uD83D\uDE00", False),
        (r"\ud83d", True),
        (r"\ude00", True),
        (r"\ud83d\ud83d\ude00", True),
        (r"\ud83d \ude00", True),
        (r"\ud83d\n\ude00", True),
        (r"\ud83d\u0041", True),
        (r"\ude00\ud83d", True),
        (r"\ud7ff\ue000", False),
        (r"\\ud83d", False),
        ("\U0001f600", False),
    ],
)
def test_lone_surrogate(escapes: str, is_lone: bool) -> None:
    for text in (f'["{escapes}"]', f'{{"{escapes}":1}}', f'"{escapes}"'):
        for pieces in cuts.in_two(text.encode()):
            assert read(pieces, strict=True)[-1] is is_lone
    halves = f'["{escapes}","{escapes}"]'
    assert read([halves], strict=True)[-1] is is_lone


def test_a_pair_does_not_reach_across_two_strings() -> None:
    assert read([r'["\ud83d","\ude00"]'], strict=True)[-1] is True


@VIEWS
@pytest.mark.parametrize("opener", ["[", '{"a":'])
@pytest.mark.parametrize("bound", [1, 2, 7, 8, 9, 64, 65, 1024])
def test_depth_limit(strict: bool, opener: str, bound: int) -> None:
    for depth in (bound - 1, bound):
        tracker = JSONTracker(strict=strict, max_depth=bound)
        assert tracker.feed(opener * depth) == ("open" if depth else "empty")
        assert (tracker.depth, tracker.max_depth_seen) == (depth, depth)
    text = (opener * (bound + 1)).encode()
    place = len(opener) * bound
    for pieces in ([text], cuts.singly(text[: place + 1])):
        tracker = JSONTracker(strict=strict, max_depth=bound)
        for piece in pieces[:-1]:
            assert tracker.feed(piece) == "open"
        with pytest.raises(LimitError) as caught:
            tracker.feed(pieces[-1])
        _check_too_deep(caught.value, place)
        with pytest.raises(LimitError) as caught:
            tracker.feed(b"]")
        _check_too_deep(caught.value, place)
        with pytest.raises(LimitError) as caught:
            tracker.finish()
        _check_too_deep(caught.value, place)
        assert (tracker.state, tracker.error_at, tracker.max_depth_seen) == ("invalid", place, bound)
        tracker.reset()
        assert tracker.feed("[]") == "closed"


def _check_too_deep(error: BaseException, place: int) -> None:
    assert isinstance(error, LimitError)
    assert (error.code, error.limit, error.offset) == ("depth_too_large", "max_depth", place)
    assert error.layer == "limit"


@VIEWS
@pytest.mark.parametrize("before", ['{"a":[', "[]", "[]x", "nul", "[}", "12", ""])
def test_reset(strict: bool, before: str) -> None:
    text = '{"a": [1, "b"]}'
    used = JSONTracker(strict=strict)
    used.feed(before)
    used.finish()
    used.reset()
    assert (used.state, used.depth, used.max_depth_seen) == ("empty", 0, 0)
    assert (used.closed_at, used.error_at, used.lone_surrogate) == (None, None, False)
    assert used.feed(text) == "closed"
    assert (used.closed_at, used.max_depth_seen) == (len(text), 2)
    assert used.strict is strict


def test_feed_after_finish() -> None:
    tracker = JSONTracker()
    assert tracker.feed("1") == "open"
    assert tracker.finish() == tracker.finish() == "closed"
    with pytest.raises(RuntimeError, match="reset"):
        tracker.feed("2")
    assert (tracker.state, tracker.closed_at) == ("closed", 1)
    with pytest.raises(RuntimeError, match="reset"):
        tracker.feed("")


def test_a_number_is_never_whole_before_its_end() -> None:
    tracker = JSONTracker()
    for digit in "1000":
        assert tracker.feed(digit) == "open"
    assert tracker.feed(" ") == "closed"
    assert tracker.closed_at == 4


def test_half_a_character_in_a_str_is_refused_and_changes_nothing() -> None:
    tracker = JSONTracker()
    tracker.feed('["')
    with pytest.raises(UnicodeEncodeError):
        tracker.feed("\ud83d")
    assert tracker.feed('"]') == "closed"
