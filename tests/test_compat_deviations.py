"""Each place where an original leaves the standard: ours does not, the original still does, and the page says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bodies import body_of, response_of
from compat_deviations import DEVIATIONS, FACES, Deviation, read
from compat_streams import expected

ROOT = Path(__file__).resolve().parent.parent
ROWS = [(face, deviation) for deviation in DEVIATIONS for face in deviation.faces]

each_row = pytest.mark.parametrize(
    ("face", "deviation"), ROWS, ids=[f"{face}: {row.what}" for face, row in ROWS]
)


@each_row
def test_ours_is_as_the_standard_says(face: str, deviation: Deviation) -> None:
    pytest.importorskip("httpx2" if face == "httpx2" else "httpx")
    assert read("trigate.compat.", face, deviation) == deviation.standard


@each_row
def test_the_original_is_not(face: str, deviation: Deviation) -> None:
    """If this fails, the original has been mended, and the row goes."""
    pytest.importorskip("httpx")
    pytest.importorskip(face)
    assert read("", face, deviation) != deviation.standard


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda deviation: deviation.what)
def test_the_row_says_what_the_decoder_says(deviation: Deviation) -> None:
    if deviation.standard[0][0] != "refused":
        assert expected(b"".join(deviation.chunks)) == deviation.standard


def test_an_original_reads_by_the_cut_and_ours_does_not() -> None:
    """sseclient-py takes CR, CRLF for one line end if they come together, and for two if they do not."""
    sseclient = pytest.importorskip("sseclient")
    from trigate.compat.sseclient import SSEClient

    stream = b"data: a\r\r\ndata: b\n\n"
    whole, cut = [stream], [stream[:9], stream[9:]]
    assert [event.data for event in sseclient.SSEClient(whole).events()] == ["a\nb"]
    assert [event.data for event in sseclient.SSEClient(cut).events()] == ["a", "b"]
    for chunks in (whole, cut):
        assert [event.data for event in SSEClient(chunks).events()] == ["a", "b"]


@pytest.mark.parametrize("face", ["httpx_sse", "httpx2"])
def test_an_original_keeps_a_whole_event_back_and_ours_does_not(face: str) -> None:
    """A CR at the end of a chunk ends its line; the originals wait for the byte behind it."""
    library = pytest.importorskip("httpx2" if face == "httpx2" else "httpx")
    given = []
    for module in (pytest.importorskip(face), pytest.importorskip(f"trigate.compat.{face}")):
        body = body_of(library, [b"data: a\r\r", b": still here\n"])
        source = module.EventSource(response_of(library, body))
        events = iter(source) if face == "httpx2" else source.iter_sse()
        assert next(events).data == "a"
        given.append(body.given)
    assert given == [2, 1]


@pytest.mark.parametrize("face", FACES)
def test_the_page_has_these_rows_and_no_other(face: str) -> None:
    page = (ROOT / "docs" / "compat" / f"{face}.md").read_text(encoding="utf-8")
    section = page.partition("\n## Where it differs\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert rows == [deviation.row for deviation in DEVIATIONS if face in deviation.faces]
