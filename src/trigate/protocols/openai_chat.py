"""Chat Completions of OpenAI and of the many servers that imitate it: docs/protocols/openai-chat.md.

Rules
 - Nothing on the wire closes a call or its arguments: only its choice's finish_reason does.
 - Text, calls and finish are kept per choice. The response is as bad as the worst of them, and a choice that
   never finished is a lost one. A word that is not known asks for nothing.
 - Until [DONE], or the end of the input, bad news is heard: an error, a worse finish, text behind a finish.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.errors import StructureError, TrigateError
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols.openai_chat_choice import RANK, ChoiceReader, lost
from trigate.protocols.openai_chat_message import to_message, tool_result_message
from trigate.protocols.openai_chat_shapes import SHAPES
from trigate.protocols.openai_chat_wire import OBJECTS, Choice, Chunk, usage_of
from trigate.protocols.profile import Profile
from trigate.protocols.wire import decode, error_info, fields_of, is_error, too_deep
from trigate.response import Response, Status
from trigate.turn import Turn

__all__ = ["OpenAIChat"]

PROFILE = Profile(
    closes_arguments=(),
    completes_call=(),
    asks_to_run=("tool_calls", "function_call"),
    ends_well=("stop", "eos"),  # calls beside them are to be run: some servers send no other word
    ends_otherwise={
        "length": "incomplete",
        "content_filter": "incomplete",
        "error": "failed",
        "abort": "failed",
        "insufficient_system_resource": "failed",
        "sensitive": "failed",
        "network_error": "failed",
        "model_context_window_exceeded": "failed",
    },
    unknown_end="failed",
    terminal=("[DONE]", "the end of the input, if every choice has finished", "an error"),
    noise=("ping", "keepalive", "keep-alive", "[DONE]"),
)
SENTINEL = b"[DONE]"
#: Bad ends in the upstream's own words (native_finish_reason), which gateways are known to turn into "stop".
NATIVE_ENDS: dict[str, Status] = {
    **dict.fromkeys(
        (
            "length",
            "max_tokens",
            "max_output_tokens",
            "max_length",
            "model_length",
            "model_context_window_exceeded",
            "incomplete",
            "content_filter",
            "refusal",
            "safety",
            "recitation",
            "blocklist",
            "prohibited_content",
            "spii",
            "image_safety",
            "language",
            "pause_turn",
        ),
        "incomplete",
    ),
    **dict.fromkeys(
        (
            "error",
            "failed",
            "abort",
            "cancelled",
            "network_error",
            "insufficient_system_resource",
            "sensitive",
            "malformed_function_call",
            "malformed_response",
            "unexpected_tool_call",
            "too_many_tool_calls",
            "missing_thought_signature",
            "other",
            "finish_reason_unspecified",
        ),
        "failed",
    ),
}
#: `n` is at most 128; a larger index is no choice, and each one below it costs memory.
MAX_CHOICE = 127


class OpenAIChat:
    """Reads the chunks of one response into a Turn."""

    name: ClassVar[str] = "openai-chat"
    framings: ClassVar[tuple[Framing, ...]] = ("sse",)
    requires_call_id: ClassVar[bool] = True
    profile: ClassVar[Profile] = PROFILE
    shapes: ClassVar[Shapes | None] = SHAPES

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        turn.has_choices = True
        self._choices: dict[int, ChoiceReader] = {}
        self._ids_differ = False
        self._chunk_id = ""

    @staticmethod
    def to_message(response: Response) -> Any:
        return to_message(response)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        return tool_result_message(response, call, content, is_error)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        """Whether a first event belongs to this protocol (for `auto`)."""
        return "choices" in value or str(value.get("object")).startswith(OBJECTS)

    # -- one event ---------------------------------------------------------------------------------

    def event(self, event: Frame) -> None:
        data = event.data_bytes.strip()
        kind = event.event
        if self._turn.is_ended:
            if data and data != SENTINEL and kind not in PROFILE.noise:
                self._turn.anomaly("event_after_end", event.start, "after the end of the response", once=True)
        elif data == SENTINEL:
            self._conclude(event.start)
        elif kind == "error":
            self._fail(_json_or_text(event.data), event.start)
        elif data and (kind == "message" or kind not in PROFILE.noise):
            try:
                self._take(kind, data, event)
            except RecursionError:
                self._flush()
                raise too_deep(event) from None
            except TrigateError:
                self._flush()
                raise

    def _take(self, kind: str, data: bytes, event: Frame) -> None:
        if kind != "message" and data[:1] != b"{":
            self._unknown(f"event type {kind!r}", kind, event)
            return
        chunk = decode(data, Chunk, event)
        if not chunk.is_plain and not self._take_odd(chunk, kind, data, event):
            return
        self._identify(chunk, event)
        if chunk.usage or chunk.x_groq:
            usage = chunk.usage or (chunk.x_groq.get("usage") if isinstance(chunk.x_groq, dict) else None)
            self._count(usage)
        choices = chunk.choices or []
        if len(choices) == 1:
            self._take_choice(choices[0], data, 0, event)
        else:
            self._take_choices(choices, data, event)

    def _take_odd(self, chunk: Chunk, kind: str, data: bytes, event: Frame) -> bool:
        """A chunk that may be an error, or nothing that is known; True if it is a piece of a completion after all."""
        failure = chunk.failure
        if failure is not None:
            self._count(chunk.usage)
            self._fail(fields_of(data, event) if failure is ... else failure, event.start)
            return False
        if not chunk.is_chunk and (kind != "message" or not chunk.has_something):
            value = fields_of(data, event)
            if kind == "message" and chunk.type not in PROFILE.noise and is_error(value):
                self._fail(value, event.start)
            elif chunk.type not in PROFILE.noise:
                self._unknown(f"event type {kind!r}", kind, event)
            return False
        if not chunk.has_something:
            self._turn.anomaly("empty_chunk", event.start, "a chunk without id, choices and usage", once=True)
        return True

    def _unknown(self, what: str, kind: str, event: Frame) -> None:
        self._turn.unknown(what, event.start)
        self._turn.other(kind, event.data)

    def _identify(self, chunk: Chunk, event: Frame) -> None:
        turn = self._turn
        is_known = turn.id is not None and turn.id == chunk.id == self._chunk_id
        if not is_known and isinstance(chunk.id, str) and chunk.id:
            if turn.id and chunk.id != turn.id and not self._ids_differ:
                self._ids_differ = True
                turn.anomaly("response_id_changed", event.start, f"{turn.id} became {chunk.id}")
            turn.id = turn.id or chunk.id
            self._chunk_id = chunk.id
            if chunk.id != turn.id:
                turn.lanes.touch()  # whose calls come next depends on it
        if not turn.origin:
            turn.origin = str(chunk.created or "")
            if not turn.origin and chunk.created is not None:
                turn.lanes.touch()  # the next one may have it
        if not turn.model and isinstance(chunk.model, str):
            turn.model = chunk.model or None

    def _count(self, raw: Any) -> None:
        """Some servers send the usage so far with each chunk, others send the final one twice."""
        known = self._turn.usage
        if raw and isinstance(raw, dict) and (known is None or known.raw != raw):
            self._turn.count(usage_of(raw))

    def _fail(self, value: Any, offset: int | None) -> None:
        error = error_info(value, offset)
        self._flush()
        finished = [choice.finish for _, choice in sorted(self._choices.items()) if choice.finish]
        self._turn.end("failed", finished[0] if finished else None, error=error, offset=offset)

    # -- choices -----------------------------------------------------------------------------------

    def _take_choices(self, choices: list[Choice], data: bytes, event: Frame) -> None:
        if sum(choice.index is None for choice in choices) > 1:
            self._turn.conflict("choice_repeated", event.start, "two choices of one chunk have no index")
        for position, choice in enumerate(choices):
            self._take_choice(choice, data, position, event)
            if self._turn.is_ended:
                return

    def _take_choice(self, raw: Choice, data: bytes, position: int, event: Frame) -> None:
        choice = self._choices.get(raw.index) if raw.index is not None else None
        if choice is None:
            choice = self._open(raw.index, event)
        choice.calls.response_id = self._chunk_id
        if raw.delta is not None:
            choice.take(raw.delta, data, position, event)
        elif raw.text:  # the legacy completions; beside a delta it repeats the content (Together)
            choice.add_text(raw.text, event)
        elif raw.message and not choice.has_begun:
            raise StructureError(
                f"the event at byte {event.start} holds a whole completion where a chunk was due",
                code="whole_completion",
                offset=event.start,
            )
        choice.has_begun = True
        if raw.usage:
            self._count(raw.usage)
        if raw.error:
            self._fail({"error": raw.error}, event.start)
            return
        if raw.native_finish_reason is not None:
            choice.note_native(raw.native_finish_reason)
        # The upstream's own word may also come behind the finish.
        word = raw.finish_reason or (choice.finish if choice.status == "completed" else None)
        if word and not self._turn.is_ended:
            choice.end(word, event)

    def _open(self, index: int | None, event: Frame) -> ChoiceReader:
        if index is None:
            self._turn.anomaly("missing_index", event.start, "a choice without an index", once=True)
            index = 0
        choice = self._choices.get(index)
        if choice is None:
            if not 0 <= index <= MAX_CHOICE:
                raise StructureError(
                    f"the event at byte {event.start} has choice {index}; 0 to {MAX_CHOICE} are possible",
                    code="choice_out_of_range",
                    offset=event.start,
                )
            choice = self._choices[index] = ChoiceReader(self._turn, index, PROFILE, NATIVE_ENDS)
        return choice

    # -- the end -----------------------------------------------------------------------------------

    def _conclude(self, offset: int | None) -> None:
        """The end, at [DONE] or at the end of the input: the worst choice speaks for all of them."""
        turn = self._turn
        self._flush()
        ends = [choice.ended(offset) for _, choice in sorted(self._choices.items())]
        worst = max(ends, key=lambda end: RANK[end[0]], default=lost("no choice ever came", offset))
        status, word, error = worst
        tokens = turn.usage.output_tokens if turn.usage is not None else None
        if status == "truncated":
            turn.is_end_clean = False
        elif (
            status == "completed" and tokens and not any(each.has_content for each in self._choices.values())
        ):
            turn.anomaly("usage_without_content", offset, f"{tokens} tokens, and nothing came")
        turn.end(status, word, error=error, offset=offset)

    def finish(self, left: Leftover) -> None:
        """The end of the input without [DONE] ends the response only where every choice has finished."""
        self._flush()
        ends = [choice.status for choice in self._choices.values()]
        worst: Status = max(ends, key=RANK.__getitem__, default="truncated")
        if worst == "truncated" or (worst == "completed" and not _is_harmless(left)):
            return
        turn = self._turn
        turn.is_end_clean = False
        offset = left.start if left else None
        turn.anomaly("missing_sentinel", offset, "the input ended without [DONE]")
        self._conclude(offset)

    def _flush(self) -> None:
        """Text that was held back, and what to_message() needs."""
        for choice in self._choices.values():
            choice.flush()
        if self._choices:
            self._turn.echo = self._choices[min(self._choices)].echo()


def _json_or_text(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.strip()


def _is_harmless(left: Leftover) -> bool:
    """Whether the unfinished event at the end can only be [DONE], or a comment.

    Anything else may be the error that would have taken the finish back: then no call runs.
    """
    if not left:
        return True
    if left.data is None:
        return left.where == "line" and left.bytes.startswith(b":")
    begun = left.data.strip()
    return left.event == "message" and bool(begun) and SENTINEL.decode().startswith(begun)
