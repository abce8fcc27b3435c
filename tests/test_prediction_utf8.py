"""Bytes that are no UTF-8, and text that is not ASCII, anywhere in a chunk whose frames are taken as they come.

Such a chunk is not checked before its frames are taken: what is not taken is checked then. Whatever comes of it is what
comes of a stream whose every event is read.
"""

from __future__ import annotations

import random

import pytest

from prediction_lanes import ALL, Kind, ids
from prediction_pairs import both

WORDS = [b"The ", b"quick ", b"brown ", b"fox ", b"jumps ", b"over ", b"the ", b"lazy ", b"dog", b". "]
ILL_FORMED = [b"\xff", b"\xe5\x8c", b"\xc3", b"\xed\xa0\x80"]
KINDS = [ALL[0], ALL[4], ALL[7], ALL[-8]]


def _fed(data: bytes, kind: Kind, frames: list[bytes]) -> None:
    """One way has a chunk that is long, and begins when there is a template."""
    both(data, kind.protocol, seen=False)
    both(data, kind.protocol, [b"".join(frames[:5]), b"".join(frames[5:])], seen=False)
    both(data, kind.protocol, frames, seen=False)
    both(data, kind.protocol, 1000, seen=False)


@pytest.mark.parametrize("kind", KINDS, ids=ids)
def test_ill_formed_bytes_in_any_place_of_a_frame(kind: Kind) -> None:
    frames = kind.frames(WORDS * 3)
    before, hit, behind = frames[:15], frames[15], frames[16:]
    places = random.Random("places").sample(range(len(hit) + 1), 24)
    for number, place in enumerate(places):
        fault = ILL_FORMED[number % len(ILL_FORMED)]
        spoilt = [*before, hit[:place] + fault + hit[place:], *behind]
        _fed(b"".join(spoilt), kind, spoilt)


@pytest.mark.parametrize("kind", KINDS, ids=ids)
@pytest.mark.parametrize(
    "between",
    [
        b": ping \xff\n\n",
        b": \xc3\xa9\n\n",
        b"\xef\xbb\xbf\n\n",
        b"id: \xe5\x8c\n\n",
        b"\xff",
        "é: \n\n".encode(),
    ],
)
def test_other_lines_between_frames(kind: Kind, between: bytes) -> None:
    frames = kind.frames(WORDS * 3)
    for at in (13, len(frames)):
        spoilt = [*frames[:at], between, *frames[at:]]
        _fed(b"".join(spoilt), kind, spoilt)


@pytest.mark.parametrize("kind", KINDS, ids=ids)
def test_a_character_that_the_end_of_the_chunk_cuts(kind: Kind) -> None:
    frames = kind.frames([*WORDS, *WORDS, "größe".encode(), "世界".encode(), *WORDS])
    data = b"".join(frames)
    cuts = [at for at in range(1, len(data)) if data[at] & 0xC0 == 0x80]
    assert cuts
    for cut in cuts:
        both(data, kind.protocol, [data[:cut], data[cut:]], seen=False)


@pytest.mark.parametrize("kind", KINDS, ids=ids)
@pytest.mark.parametrize("lenient", [(), ("utf8",)], ids=str)
def test_chunks_of_any_text_are_taken(kind: Kind, lenient: tuple[str, ...]) -> None:
    texts = [*WORDS, *("世界".encode(), b"and ", "größe".encode()) * 10]
    frames = kind.frames(texts)
    for chunks in (None, frames, 1500, [b"".join(frames[:5]), b"".join(frames[5:])]):
        pair = both(b"".join(frames), kind.protocol, chunks, seen=False, lenient=lenient)
        assert pair.hits > len(texts) * 0.8
