"""Builds small Responses streams event by event, with right sequence numbers and a final list that agrees.

It writes what a correct server writes; a test that wants a fault adds it with `add`.
"""

from __future__ import annotations

import json
from typing import Any


class Wire:
    """One response in the making; `stream` is its bytes so far."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._number = 0
        self._output: list[dict[str, Any]] = []
        self.add(
            "response.created", response={"id": "resp_1", "model": "m", "status": "in_progress", "output": []}
        )

    @property
    def stream(self) -> bytes:
        return b"".join(self._blocks)

    @property
    def next_start(self) -> int:
        """Offset of the next event's first byte."""
        return sum(len(block) for block in self._blocks)

    def add(self, kind: str, *, numbered: bool = True, **members: Any) -> Wire:
        """One event."""
        value: dict[str, Any] = {"type": kind}
        if numbered:
            value["sequence_number"] = self._number
            self._number += 1
        data = compact(value | members)
        self._blocks.append(f"event: {kind}\ndata: {data}\n\n".encode())
        return self

    def text(self, *pieces: str) -> Wire:
        """A message of one part."""
        index = len(self._output)
        item = {"type": "message", "id": f"msg_{index}", "role": "assistant"}
        place: dict[str, Any] = {"output_index": index, "item_id": f"msg_{index}", "content_index": 0}
        self.add(
            "response.output_item.added",
            output_index=index,
            item=item | {"status": "in_progress", "content": []},
        )
        for piece in pieces:
            self.add("response.output_text.delta", **place, delta=piece)
        self.add("response.output_text.done", **place, text="".join(pieces))
        content = [{"type": "output_text", "text": "".join(pieces), "annotations": []}]
        return self.done(item | {"status": "completed", "content": content})

    def call(self, *pieces: str, name: str = "f") -> Wire:
        """A function call whose arguments come in these pieces."""
        index = len(self._output)
        item = {"type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}", "name": name}
        place: dict[str, Any] = {"output_index": index, "item_id": f"fc_{index}"}
        self.add(
            "response.output_item.added",
            output_index=index,
            item=item | {"status": "in_progress", "arguments": ""},
        )
        for piece in pieces:
            self.add("response.function_call_arguments.delta", **place, delta=piece)
        arguments = "".join(pieces)
        self.add("response.function_call_arguments.done", **place, arguments=arguments)
        return self.done(item | {"status": "completed", "arguments": arguments})

    def done(self, item: dict[str, Any]) -> Wire:
        self.add("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)
        return self

    def complete(self) -> Wire:
        response = {"id": "resp_1", "model": "m", "status": "completed", "output": self._output}
        return self.add("response.completed", response=response)

    @property
    def items_size(self) -> int:
        """Bytes of the finished items as they stand on the wire."""
        return sum(len(compact(item).encode()) for item in self._output)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
