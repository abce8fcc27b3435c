"""One choice of a chat completion: its text, its reasoning, its calls, and how it ended.

Rules
 - A delta counts before the finish in the same chunk. Text or a call behind a finish is a conflict.
 - Reasoning comes under several names, and some servers send the same text under two of them: it counts once.
 - The first finish closes the calls. Another one counts only if it is worse.
"""

from __future__ import annotations

from typing import Any

from trigate.framing import Frame
from trigate.items import ReasoningDelta, RefusalDelta, TextDelta
from trigate.protocols.openai_chat_calls import ToolCalls
from trigate.protocols.openai_chat_message import Echo
from trigate.protocols.openai_chat_wire import (
    SILENT_PARTS,
    Delta,
    Fragment,
    arguments_text,
    part_text,
    present,
    reasoning_of,
)
from trigate.protocols.profile import Profile
from trigate.response import ErrorInfo, Status
from trigate.turn import TextPart, Turn

__all__ = ["RANK", "ChoiceReader", "End", "lost"]

End = tuple[Status, str | None, ErrorInfo | None]

#: From good to bad: the response is as bad as the worst choice.
RANK: dict[Status, int] = {"completed": 0, "incomplete": 1, "truncated": 2, "failed": 3}


class ChoiceReader:
    """Reads the pieces of one choice into a Turn.

    native_ends: the bad ends in the words of the server behind a gateway, and the status of each.
    """

    def __init__(self, turn: Turn, index: int, profile: Profile, native_ends: dict[str, Status]) -> None:
        self.index = index
        self.calls = ToolCalls(turn, index)
        self.status: Status = "truncated"
        self.finish: str | None = None
        self.has_begun = False
        self._turn = turn
        self._profile = profile
        self._native_ends = native_ends
        self._native = ""
        self._asks = False
        self._finished_at: int | None = None
        self._echo = Echo(turn)
        self._text: TextPart = turn.open_text(index)
        self._reasoning: TextPart | None = None
        self._refusal: TextPart | None = None

    @property
    def has_content(self) -> bool:
        return bool(self._text or self._reasoning or self._refusal or self.calls.slots)

    # -- pieces ------------------------------------------------------------------------------------

    def take(self, delta: Delta, data: bytes, position: int, event: Frame) -> None:
        """A delta; position: where its choice stands in the chunk, whose JSON is `data`."""
        if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
            self._take_reasoning(delta, event)
        content = delta.content
        if isinstance(content, list):
            self._take_parts(content, bool(reasoning_of(delta)[0]), event)
        elif content:
            self.add_text(content, event)
            self._echo.add_text(content, event.start)
        if delta.refusal:
            self._note_late("a refusal", event)
            if self._refusal is None:
                self._refusal = self._turn.open_refusal()
            self._turn.take_piece(self._refusal, RefusalDelta, delta.refusal, self.index, event.start)
        if delta.extra_content:
            self._echo.extra_content = delta.extra_content
        for number, fragment in enumerate(delta.tool_calls or ()):
            if self._turn.is_ended:
                return
            self._take_fragment(fragment, data, (position, number), event)
        old = delta.function_call
        if old is not None and not self._turn.is_ended:
            text, is_string = arguments_text(old.arguments, data, (position, None), event)
            if not self._is_late(text or present(old.name), event):
                self.calls.take_function_call(old.name, text, is_string, event)

    def _take_fragment(self, fragment: Fragment, data: bytes, place: tuple[int, int], event: Frame) -> None:
        body = fragment.custom or fragment.function
        text: str | None
        if fragment.custom is not None and fragment.function is not None:
            detail = "a fragment is a function call and a custom one"
            self._turn.conflict("call_type_changed", event.start, detail, *self.calls.calls)
        if fragment.custom is not None:
            text, is_string = fragment.custom.input, True
        elif fragment.function is not None:
            text, is_string = arguments_text(fragment.function.arguments, data, place, event)
        else:
            text, is_string = None, True
        name = present(body.name) if body is not None else None
        if not self._is_late(text or name or present(fragment.id), event):
            self.calls.take(fragment, name, text, is_string, event)

    def _take_reasoning(self, delta: Delta, event: Frame) -> None:
        if isinstance(delta.reasoning_details, list):
            self._echo.add_details(delta.reasoning_details, event.start)
        text, member = reasoning_of(delta)
        if not text:
            return
        self._echo.reasoning_member = self._echo.reasoning_member or member
        other = delta.reasoning
        if member == "reasoning_content" and isinstance(other, str) and other not in ("", text):
            detail = "reasoning says something else than reasoning_content, which counts"
            self._turn.anomaly("reasoning_differs", event.start, detail, once=True)
        self._add_reasoning(text, event)

    def _take_parts(self, parts: list[dict[str, Any]], is_told: bool, event: Frame) -> None:
        """A content list: text and thinking in parts. is_told: another member holds the reasoning already."""
        for part in parts:
            kind = part.get("type")
            if kind == "thinking":
                self._add_reasoning("" if is_told else part_text(part, event), event)
            elif kind == "text":
                self.add_text(part_text(part, event), event)
            elif kind not in SILENT_PARTS:
                self._turn.unknown(f"content part {kind!r}", event.start)
            if self._turn.is_ended:
                return
            self._echo.add_part(part, event.start)

    def add_text(self, text: str, event: Frame) -> None:
        if text:
            self._note_late("text", event)
            self._turn.take_piece(self._text, TextDelta, text, self.index, event.start)

    def _add_reasoning(self, text: str, event: Frame) -> None:
        if not text:
            return
        if self.finish is not None:
            # No action depends on it, so unlike text it does not take the finish back.
            self._turn.anomaly("reasoning_after_finish", event.start, f"choice {self.index}", once=True)
        if self._reasoning is None:
            self._reasoning = self._turn.open_reasoning()
        self._turn.take_piece(self._reasoning, ReasoningDelta, text, self.index, event.start)

    def _note_late(self, what: str, event: Frame) -> None:
        """Text or a call behind a finish says that it was none: what it confirmed is open again."""
        if self.finish is not None:
            detail = f"{what} behind the finish of choice {self.index}"
            self._turn.conflict("delta_after_close", event.start, detail, *self.calls.calls)

    def _is_late(self, content: str | None, event: Frame) -> bool:
        if content:
            self._note_late("a tool call", event)
        return self.finish is not None

    # -- the end -----------------------------------------------------------------------------------

    def note_native(self, word: Any) -> None:
        """The end in the words of the server behind a gateway. A bad one is not forgotten."""
        if isinstance(word, str) and self._native.lower() not in self._native_ends:
            self._native = word

    def end(self, word: str, event: Frame) -> None:
        """A finish_reason. Gateways send it again beside the usage; only a worse one changes anything."""
        status = self._profile.status_of(word)
        self._asks = self._asks or word in self._profile.asks_to_run
        native = self._native_ends.get(self._native.lower())
        if status == "completed" and native is not None:
            detail = f"finish_reason {word!r} beside native_finish_reason {self._native!r}"
            self._turn.anomaly("finish_laundered", event.start, detail, once=True)
            status, word = native, self._native
        is_first = self.finish is None
        if not is_first and word != self.finish:
            detail = f"choice {self.index}: {self.finish!r} became {word!r}"
            self._turn.anomaly("reason_changed", event.start, detail, once=True)
        if is_first or RANK[status] > RANK[self.status]:
            self.finish, self.status, self._finished_at = word, status, event.start
        if is_first and status == "completed":
            self.calls.close(event)

    def ended(self, offset: int | None) -> End:
        """How this choice ended: status, the wire's word, and the error where it is one."""
        word = self.finish
        if word is None:
            return lost(f"choice {self.index} has no finish_reason", offset)
        if self.status == "failed":
            message = f"choice {self.index} ended as {word!r}"
            return "failed", word, ErrorInfo("provider", word, word, message, self._finished_at)
        if self.status == "completed" and self._asks and not self.calls.calls:
            message = f"choice {self.index} asks to run calls ({word!r}), and there is none"
            return "failed", word, ErrorInfo("structure", "structure", "no_calls", message, self._finished_at)
        return self.status, word, None

    def flush(self) -> None:
        """Text that was held back is the call's after all."""
        for slot in self.calls.slots:
            self.calls.flush(slot, None)

    def echo(self) -> tuple[bytes, ...]:
        """What the assistant's message needs of this choice."""
        parts = {"reasoning": self._reasoning, "refusal": self._refusal}
        texts = {name: part.text for name, part in parts.items() if part is not None}
        return self._echo.written(self.index, texts, self.calls.slots)


def lost(what: str, offset: int | None) -> End:
    """The end of a stream that never said how it ended."""
    place = "" if offset is None else f" at byte {offset}"
    message = f"the stream ended{place}, and {what}"
    return "truncated", None, ErrorInfo("transport", "truncated", "no_finish_reason", message, offset)
