"""The answers of Chat Completions: the assistant's message, and the results of its calls.

Rules
 - What a dialect wants back is given back unchanged, under the name under which it came: reasoning text,
   reasoning_details, thinking parts, extra_content of a call (thought signatures).
 - The message is that of the first choice: the others are alternatives to it, and only one can be continued.
 - Calls of a response that is not completed are left out, and so are calls that no result could name.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from trigate.calls import ToolCall
from trigate.protocols.answers import answered_id, as_text, kept
from trigate.protocols.raw_json import json_of, object_of
from trigate.turn import Turn

if TYPE_CHECKING:
    from trigate.protocols.openai_chat_calls import Slot
    from trigate.response import Response

__all__ = ["Echo", "to_message", "tool_result_message"]

#: Models whose servers want the function's name beside the id of a result (Mistral; Kimi at Fireworks).
NAMED_RESULTS = re.compile(r"(?i)(?:mistral|ministral|magistral|codestral|devstral|pixtral|kimi)")
#: The text of a streamed detail, by its type: only these come in pieces.
PIECES = {"reasoning.text": "text", "reasoning.summary": "summary"}


class _Run:
    """Consecutive pieces of one text; without `member`, a value that came whole."""

    __slots__ = ("member", "pieces", "value")

    def __init__(self, value: dict[str, Any], member: str | None) -> None:
        self.value = dict(value)
        self.member = member
        self.pieces: list[Any] = [value.get(member)] if member is not None else []

    def takes(self, piece: dict[str, Any], member: str | None) -> bool:
        """Adds a piece if it goes on with this text."""
        told = self.value
        if member is None or told.get("type") != piece.get("type") or told.get("index") != piece.get("index"):
            return False
        for name, value in piece.items():
            if name == member:
                self.pieces.append(value)
            elif value or name not in told:
                told[name] = value  # a signature comes with the last piece
        return True

    def written(self) -> dict[str, Any]:
        if self.member is None:
            return self.value
        pieces = [piece for piece in self.pieces if piece]
        if all(isinstance(piece, str) for piece in pieces):
            return self.value | {self.member: "".join(pieces)}
        lists = [piece if isinstance(piece, list) else [_text_part(piece)] for piece in pieces]
        inner = [part for parts in lists for part in parts]
        if all(_is_text_part(part) for part in inner):
            inner = [_text_part("".join(part["text"] for part in inner))]
        return self.value | {self.member: inner}


def _text_part(text: Any) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _is_text_part(part: Any) -> bool:
    return isinstance(part, dict) and part.keys() == {"type", "text"} and isinstance(part["text"], str)


class Echo:
    """What the assistant's message needs beyond text and calls, gathered while one choice arrives."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self.reasoning_member = ""
        self.extra_content: Any = None
        self._details: list[_Run] = []
        self._parts: list[_Run] = []

    def add_details(self, details: list[Any], offset: int | None) -> None:
        """reasoning_details: consecutive pieces of one text are joined, everything else stays as it came."""
        for detail in details:
            if isinstance(detail, dict):
                self._add(self._details, detail, PIECES.get(str(detail.get("type"))), offset)

    def add_text(self, text: str, offset: int | None) -> None:
        """Text as a plain string: it has a place in the content list only where there is one already."""
        if self._parts:
            self.add_part(_text_part(text), offset)

    def add_part(self, part: dict[str, Any], offset: int | None) -> None:
        """A part of a content list: consecutive pieces of text, and of thinking, are joined."""
        kind = part.get("type")
        self._add(self._parts, part, kind if kind in ("text", "thinking") else None, offset)

    def _add(self, runs: list[_Run], piece: dict[str, Any], member: str | None, offset: int | None) -> None:
        if self._turn.keep(len(json.dumps(piece)), offset) and not (runs and runs[-1].takes(piece, member)):
            runs.append(_Run(piece, member))

    def written(self, choice: int, texts: dict[str, str], slots: list[Slot]) -> tuple[bytes, ...]:
        """All of it, as one JSON text. Made once, when the response ends."""
        members: dict[str, Any] = {}
        if self.reasoning_member in ("reasoning_content", "reasoning"):
            members[self.reasoning_member] = texts.get("reasoning", "")
        if self._details:
            members["reasoning_details"] = [run.written() for run in self._details]
        if texts.get("refusal"):
            members["refusal"] = texts["refusal"]
        if self.extra_content:
            members["extra_content"] = self.extra_content
        if any(run.member == "thinking" for run in self._parts):
            members["content"] = [run.written() for run in self._parts]
        extras = {repr(slot.key): slot.extra for slot in slots if slot.extra}
        if not (choice or members or extras):
            return ()
        try:
            parts = {
                "choice": json_of(choice),
                "members": object_of({name: json_of(value) for name, value in members.items()}),
                "calls": json_of(extras) if extras else b"{}",
            }
            return (object_of(parts),)
        except RecursionError:
            return ()  # nested so deep that no server made it: nothing worth sending back


def to_message(response: Response) -> dict[str, Any]:
    """The assistant's message, to stand in the next request's `messages` before the results."""
    told: dict[str, Any] = {"choice": 0, "members": {}, "calls": {}}
    if response.echo:
        told = kept(response.echo[0])
    choice: int = told["choice"]
    text = response.texts[choice] if choice < len(response.texts) else ""
    message: dict[str, Any] = {"role": "assistant", "content": text, **told["members"]}
    if response.status == "completed":
        for call in response.calls:
            if call.wire_key[0] == choice and call.kind != "builtin" and call.problem != "repeated":
                _add_call(message, call, told["calls"].get(repr(call.wire_key)))
    if not message["content"] and len(message) > 2:
        message["content"] = None
    return message


def _add_call(message: dict[str, Any], call: ToolCall, extra: Any) -> None:
    # An empty text stood for {} when the call ran; sent back as it is, servers that parse it would refuse it.
    arguments = call.arguments if call.kind == "custom" or call.arguments.strip() else "{}"
    if _is_answered_by_name(call):
        message["function_call"] = {"name": call.name, "arguments": arguments}
        return
    if call.call_id is None:
        return
    member = "input" if call.kind == "custom" else "arguments"
    entry: dict[str, Any] = {"id": call.call_id, "type": call.kind}
    entry[call.kind] = {"name": call.name, member: arguments}
    if extra:
        entry["extra_content"] = extra
    message.setdefault("tool_calls", []).append(entry)


def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> dict[str, Any]:
    """The result of one call. There is no flag for an error: its text is the content."""
    del is_error
    if call.kind == "builtin":
        raise ValueError(f"no answer is known for a call of type {call.name!r}")
    if _is_answered_by_name(call):
        return {"role": "function", "name": call.name, "content": _content(content)}
    message: dict[str, Any] = {"role": "tool", "tool_call_id": answered_id(call)}
    if NAMED_RESULTS.search(response.model or ""):
        message["name"] = call.name
    return message | {"content": _content(content)}


def _is_answered_by_name(call: ToolCall) -> bool:
    return call.wire_key[-1] == "function_call"


def _content(content: Any) -> Any:
    """Text as it is, a list of content parts as it is, anything else as JSON."""
    if isinstance(content, list) and content and all(_is_part(item) for item in content):
        return content
    return as_text(content)


def _is_part(item: Any) -> bool:
    return isinstance(item, dict) and "type" in item
