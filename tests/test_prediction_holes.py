"""What may stand in a hole of a predicted event, and around it: read fast or event by event, it is the same.

Rules
 - Every sort of delta of every protocol meets every hard text, at the first delta and behind others.
 - One frame among its like is changed at every byte: nothing that differs is taken for the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from prediction_lanes import ALL, PADDED, Kind, ids
from prediction_pairs import both
from prediction_wire import BROKEN, HARD, PLAIN, Raw
from trigate._core import _kernel, _kernels, _use_kernel

kinds = pytest.mark.parametrize("kind", ALL, ids=ids)
padded = pytest.mark.parametrize("kind", PADDED, ids=ids)

WORDS = [b"a", b"b", b"c"]


def check(kind: Kind, frames: list[bytes], **options: Any) -> int:
    """Whole and frame by frame; returns the hits of the whole."""
    data = b"".join(frames)
    both(data, kind.protocol, frames, **options)
    return both(data, kind.protocol, **options).hits


# -- text ----------------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("lenient", [(), ("utf8",)], ids=str)
def test_hard_texts(kind: Kind, lenient: tuple[str, ...]) -> None:
    for hard in (*HARD, *BROKEN, *PLAIN):
        check(kind, kind.frames([*WORDS, hard, b"d", hard, hard, b"e"]), lenient=lenient)
        for texts in (
            ([hard, *WORDS, hard], [b"a", hard, b"b", b"c"]) if not lenient or hard in BROKEN else ()
        ):
            both(b"".join(kind.frames(texts)), kind.protocol, lenient=lenient)


@kinds
def test_whole_characters_are_predicted(kind: Kind) -> None:
    """Escapes as well: only what is half a character is read."""
    escapes = [
        hard for hard in HARD if hard.count(b"\\ud8") == hard.count(b"\\ude") or b"\\uD83D\\uDE00" in hard
    ]
    whole = [hard for hard in escapes if hard not in (b"\\ude00", b"\\ude00x", b"x\\ud83d", b"\\ud83d")]
    texts = [b"a", *whole, *PLAIN]
    # An empty part of Gemini's is a part of the turn, and so it is read.
    read = 2 + (texts.count(b"") if kind.protocol == "gemini" else 0)
    assert check(kind, kind.frames(texts)) >= len(texts) - read


HALVES = [
    [b"x\\ud83d", b"\\ude00y"],
    [b"\\ud83d", b"\\ude00"],
    [b"\\ud83d", b"", b"\\ude00"],
    [b"\\ud83d", b"a", b"\\ude00"],
    [b"\\ud83d", b"\\ud83d", b"\\ude00\\ude00"],
    [b"\\ud83d\\ude00\\ud83d", b"\\ude00"],
    [b"\\ud83d", "é".encode(), b"b"],
    [b"\\ud83d\\u0041", b"\\ude00"],
    [b"\\ud8", b"3d\\ude00"],
]


@kinds
@pytest.mark.parametrize("halves", HALVES, ids=lambda pieces: b"|".join(pieces).decode("utf-8"))
def test_halves_of_a_character_in_two_deltas(kind: Kind, halves: list[bytes]) -> None:
    for before in ([], WORDS):
        check(kind, kind.frames([*before, *halves, *WORDS, *halves]))


@kinds
def test_json_texts(kind: Kind) -> None:
    """Texts that are whole calls, cut between any two bytes of what the delta's own JSON makes of them."""
    inside = b'{\\"path\\": \\"/tmp/\\u00e9 \\\\\\"x\\\\\\"\\", \\"n\\": [1, 2]}'
    for size in (1, 2, 3, 5, 8):
        pieces = [inside[at : at + size] for at in range(0, len(inside), size)]
        check(kind, kind.frames(pieces))
    marks = [at for at in range(len(inside)) if inside[at : at + 1] not in b'\\"']
    random.Random("cuts").shuffle(marks)
    for mark in marks[:10]:
        check(kind, kind.frames([inside[:mark], inside[mark:]]))


# -- at the borders of vectors -------------------------------------------------------------------------

SPECIALS = [b"", b"\\n", b'\\"', "é".encode(), "😀".encode(), b"\\ud83d\\ude00", b"\\\\"]
FAULTS = [b"\x01", b"\x7f", b"\xff", b"\xe5\x8c", b"\\x", b'"']


@pytest.fixture(params=_kernels())
def kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    was = _kernel()
    _use_kernel(request.param)
    yield request.param
    _use_kernel(was)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("kind", [ALL[0], ALL[4], ALL[7], ALL[-8]], ids=ids)
def test_every_length_up_to_the_border_of_vectors(kind: Kind) -> None:
    texts = [b"x" * length + special + b"yz" * (length % 3) for special in SPECIALS for length in range(131)]
    assert check(kind, kind.frames(texts)) > len(texts) * 0.98
    for fault in FAULTS:
        for length in (0, 1, 14, 15, 16, 17, 30, 31, 32, 33, 47, 62, 63, 64, 65, 95, 126, 127, 128, 129):
            text = b"x" * length + fault
            both(b"".join(kind.frames([*WORDS, text, *WORDS])), kind.protocol)
            both(b"".join(kind.frames([*WORDS, text + b"y" * 70])), kind.protocol, lenient=("utf8",))


# -- padding and numbers -------------------------------------------------------------------------------


@padded
@pytest.mark.parametrize("lenient", [(), ("utf8",)], ids=str)
def test_hard_padding(kind: Kind, lenient: tuple[str, ...]) -> None:
    for hard in (*HARD, *BROKEN, *PLAIN):
        padding = Raw(b'"' + hard + b'"')
        check(kind, kind.frames([*WORDS, *WORDS, b"d"], ["", "", "", padding, "z"]), lenient=lenient)


NUMBERS = [
    b"0",
    b"7",
    b"9",
    b"10",
    b"99",
    b"100",
    b"-1",
    b"-0",
    b"01",
    b"00",
    b"1.0",
    b"1e3",
    b"1E+3",
    b"-",
    b"+1",
]
NUMBERS += [
    b"9" * 17,
    b"9" * 18,
    b"1" + b"0" * 18,
    b"9" * 19,
    b"9" * 40,
    b"9" * 5000,
    b"true",
    b"null",
    b'"7"',
    b"[]",
]


@padded
def test_padding_of_all_sorts(kind: Kind) -> None:
    for number in NUMBERS:
        for first in (5, "x"):
            check(kind, kind.frames([*WORDS, *WORDS], [first, first, first, Raw(number), first, Raw(number)]))


# -- around the holes ----------------------------------------------------------------------------------


def _changed(frame: bytes) -> Iterator[bytes]:
    """The frame with one byte lost, or doubled, or another one in its place, at each place of it."""
    for at in range(len(frame)):
        more = frame[at : at + 1] * (2 * (at % 2))
        yield frame[:at] + more + frame[at + 1 :]
        yield frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :]


@kinds
def test_a_frame_that_differs_in_one_byte(kind: Kind) -> None:
    """It is never taken for its like, wherever the byte is; nor is what comes behind it."""
    frames = kind.frames([*WORDS, b"d", b"e"])
    at = len(kind.opening) + 2
    for place, changed in enumerate(_changed(frames[at])):
        stream = [*frames[:at], changed, *frames[at + 1 :]]
        both(b"".join(stream), kind.protocol, stream if place % 3 == 0 else None, seen=place % 7 == 0)


@kinds
def test_a_frame_with_something_inserted(kind: Kind) -> None:
    frames = kind.frames([*WORDS, b"d", b"e"])
    at = len(kind.opening) + 2
    chance = random.Random(f"inserted {ids(kind)}")
    for inserted in (
        b" ",
        b"\t",
        b"\n",
        b"\r\n",
        b"\r",
        b"\\u0061",
        b'"x":1,',
        b",",
        b"0",
        b"\x00",
        b"\xef\xbb\xbf",
    ):
        for _ in range(12):
            place = chance.randrange(len(frames[at]) + 1)
            changed = frames[at][:place] + inserted + frames[at][place:]
            both(b"".join([*frames[:at], changed, *frames[at + 1 :]]), kind.protocol, seen=False)


@kinds
def test_frames_lost_doubled_and_swapped(kind: Kind) -> None:
    frames = kind.frames([*WORDS, b"d", b"e"])
    for at in range(len(frames)):
        check(kind, [*frames[:at], *frames[at + 1 :]])
        check(kind, [*frames[: at + 1], *frames[at:]])
        check(kind, [*frames[:at], *frames[at + 1 : at + 2], frames[at], *frames[at + 2 :]])
        check(kind, [*frames[at:], *frames[:at]])


@kinds
def test_the_stream_is_cut_at_every_byte(kind: Kind) -> None:
    """In two chunks, and as its end; at every byte of two deltas that may be taken unread."""
    frames = kind.frames([*WORDS, b"\\n\\u00e9", "ü".encode()])
    data, first = b"".join(frames), len(kind.opening) + 3
    start, end = (len(b"".join(frames[:at])) for at in (first, first + 2))
    for place in range(start - 1, end + 2):
        both(data, kind.protocol, [data[:place], data[place:]], seen=False)
        if place % 3 == 0:
            both(data[:place], kind.protocol, seen=False)
