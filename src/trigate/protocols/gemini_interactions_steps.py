"""The steps of one interaction: where each stands, what it is, and how it goes back to the provider.

Rules
 - A step's index routes its fragments. A function call's arguments are the joined deltas; the object that the
   step began with counts only where no delta came, and must not contradict them.
 - Signatures, summaries and the provider's own calls are kept as they came.
"""

from __future__ import annotations

import json
from typing import Any

from trigate._core import Lane
from trigate.calls import ToolCall
from trigate.text import size_of
from trigate.turn import TextPart

__all__ = ["SERVER_STEPS", "StepState", "same_value"]

#: What the provider runs itself, and the results of it.
SERVER_STEPS = frozenset(
    f"{tool}_{end}"
    for tool in (
        "google_search",
        "google_maps",
        "code_execution",
        "url_context",
        "file_search",
        "mcp_server_tool",
        "retrieval",
        "tool_search",
        "processing",
    )
    for end in ("call", "result")
)
#: Which list of the step the pieces of a delta go to.
_LISTS = {"text": "content", "thought_summary": "summary"}


class StepState:
    """One step. `first`: its arguments as the start gave them, as JSON text; None where it gave none."""

    __slots__ = (
        "_block",
        "_echo",
        "_since",
        "call",
        "first",
        "index",
        "is_stopped",
        "members",
        "start",
        "text",
        "type",
    )

    def __init__(self, index: int, step_type: str, start: bytes, members: dict[str, Any]) -> None:
        self.index = index
        self.type = step_type
        self.start = start
        self.members = members
        self.call: ToolCall | None = None
        self.first: str | None = None
        self.text: TextPart | None = None
        self.is_stopped = False
        # The text block that is open, and the byte of `text` at which it begins.
        self._block: dict[str, Any] | None = None
        self._since = 0
        self._echo: bytes | None = None  # of a step for which nothing came since it was made

    def first_texts(self) -> list[str]:
        """The texts that the start has already; what follows is joined to the last of them."""
        blocks = self.members.get("summary" if self.type == "thought" else "content")
        if not isinstance(blocks, list):
            return []
        texts = [block for block in blocks if _text_of(block) is not None]
        told = [block["text"] for block in texts]
        if texts and texts[-1] is blocks[-1]:
            texts[-1]["text"] = ""
            self._block, self._since = texts[-1], sum(size_of(text) for text in told[:-1])
        return told

    def goes_on(self, delta: dict[str, Any]) -> bool:
        """Whether a delta brings nothing but the next piece of the text block that is open."""
        piece = delta if delta.get("type") == "text" else delta.get("content")
        return self._block is not None and delta.get("type") in _LISTS and _text_of(piece) is not None

    def add(self, delta: dict[str, Any]) -> None:
        """Merges a delta into the step, for the echo."""
        self._echo = None
        kind = delta.get("type")
        if kind in _LISTS:
            self._add_block(_LISTS[kind], delta if kind == "text" else delta.get("content"))
        elif kind == "text_annotation_delta":
            self._annotate(delta.get("annotations"))
        elif kind == "thought_signature":
            self.members["signature"] = delta.get("signature")
        elif kind == self.type:
            self.members |= {name: value for name, value in delta.items() if name != "type"}
        elif kind != "arguments_delta" and self.type == "model_output":
            self._add_block("content", delta)

    def _add_block(self, member: str, block: Any) -> None:
        blocks = self.members.setdefault(member, [])
        if not isinstance(blocks, list) or not isinstance(block, dict):
            return
        text = _text_of(block)
        if text is not None and self._block is not None and blocks and blocks[-1] is self._block:
            return
        self._join()
        block = dict(block)
        blocks.append(block)
        if text is not None:
            block["text"] = ""  # that is in `text`, as all that follows
            self._block, self._since = block, self._size

    def _annotate(self, annotations: Any) -> None:
        blocks = self.members.get("content")
        if (
            isinstance(blocks, list)
            and blocks
            and isinstance(blocks[-1], dict)
            and isinstance(annotations, list)
        ):
            blocks[-1].setdefault("annotations", []).extend(annotations)

    def _join(self) -> None:
        if self._block is not None:
            lane = self.text.lane if self.text is not None else Lane()
            self._block["text"] = lane.slice(min(self._since, lane.size), lane.size)
        self._block = None

    @property
    def _size(self) -> int:
        return self.text.lane.size if self.text is not None else 0

    def to_echo(self) -> bytes:
        """The step as JSON. A function call holds the arguments that were assembled."""
        if self.call is not None:
            self._join()
            return json.dumps(self.members | {"arguments": _arguments(self.call.arguments)}).encode()
        if self._echo is None:
            self._join()
            self._echo = json.dumps(self.members).encode()
        return self._echo


def _text_of(block: Any) -> str | None:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _arguments(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text


def same_value(one: str, other: str) -> bool:
    """Whether two JSON texts mean the same; texts that are no JSON are compared as they are."""
    try:
        return _canonical(one) == _canonical(other)
    except (ValueError, RecursionError):
        return one == other


def _canonical(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)
