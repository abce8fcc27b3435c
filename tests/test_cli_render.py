"""What a terminal may be shown: escapes that lose nothing, and widths counted in cells."""

from __future__ import annotations

import json
import re

import pytest

from trigate.cli.render import dump_json, escape, shorten

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\u200b\r\n"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\ud800-\udfff]")


def test_escape_leaves_people_s_text_alone() -> None:
    for text in ("plain", "你好，世界", "👩‍💻 🇩🇪", "é e\u0301", "שלום", 'quote " and \\ backslash'):
        assert escape(text) == text
    assert escape("a\tb\n\x1b\x7f\x9b\u202e\ud800\U000e0041") == (
        "a\\tb\\n\\x1b\\x7f\\x9b\\u202e\\ud800\\U000e0041"
    )


@pytest.mark.parametrize("width", range(2, 12))
def test_shorten_counts_cells(width: int) -> None:
    assert shorten("ab", width) == "ab"
    wide = shorten("天地玄黄宇宙洪荒", width)
    assert wide.endswith("…")
    assert 2 * (len(wide) - 1) + 1 <= width
    assert shorten("x" * 50, width) == "x" * (width - 1) + "…"
    assert shorten("x" * width, width) == "x" * width


def test_shorten_without_a_width_is_whole() -> None:
    assert shorten("x" * 5000, None) == "x" * 5000


def test_dumped_json_is_safe_and_loses_nothing() -> None:
    value = {"text": HOSTILE + "\x7f\ud800\U000e0041 你好"}
    for indent in (None, 2):
        text = dump_json(value, indent=indent)
        assert json.loads(text) == value
        assert not CONTROL.search(text)
        assert "你好" in text
