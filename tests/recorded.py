"""Where recorded streams and described cases lie: outside the repository. Without them tests are skipped.

TRIGATE_CORPUS and TRIGATE_CASES name other places.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

__all__ = ["CASES", "CORPUS", "cases", "corpus_entries", "corpus_stream", "needs_cases", "needs_corpus"]

_BESIDE = Path(__file__).resolve().parents[2] / "shared"
CORPUS = Path(os.environ.get("TRIGATE_CORPUS", _BESIDE / "corpus"))
CASES = Path(os.environ.get("TRIGATE_CASES", _BESIDE / "cases" / "stream_cases.json"))

needs_corpus = pytest.mark.skipif(
    not (CORPUS / "index.json").is_file(),
    reason=f"no recorded corpus at {CORPUS} (TRIGATE_CORPUS names another)",
)
needs_cases = pytest.mark.skipif(
    not CASES.is_file(), reason=f"no described cases at {CASES} (TRIGATE_CASES names another)"
)


def corpus_entries(protocol: str) -> list[dict[str, Any]]:
    """The index's entries of one protocol, smallest first; none where there is no corpus."""
    index = CORPUS / "index.json"
    if not index.is_file():
        return []
    entries: list[dict[str, Any]] = json.loads(index.read_text("utf-8"))["files"]
    return sorted(
        (entry for entry in entries if entry["protocol"] == protocol), key=lambda entry: entry["bytes"]
    )


@cache
def corpus_stream(file: str) -> bytes:
    return (CORPUS / file).read_bytes()


def cases(provider: str) -> list[dict[str, Any]]:
    """The cases of one provider; none where there is no file."""
    if not CASES.is_file():
        return []
    described: list[dict[str, Any]] = json.loads(CASES.read_text("utf-8"))
    return [case for case in described if case["provider"] == provider]
