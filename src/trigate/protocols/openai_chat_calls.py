"""The tool calls of one choice: to which of them does a fragment belong, and is what it brings new?

Rules
 - An id that is known decides. A new id with a name opens a new call, also at a used index. Without an id the
   index decides (its newest call); with neither, a name opens a call, and anything else goes to the last one.
 - Id and name: empty, null and "null" count as absent. The first id stays. Another name is the next piece.
 - Argument text is only ever appended, but for two copies that servers are known to send, both flagged: a
   first piece that is exactly {} before the real object, and a frame that repeats id, name and whole text.
 - Text that belongs to no named call makes the turn a conflict: a call lacks it, and nobody knows which.
"""

from __future__ import annotations

from trigate._core import JSONTracker, Lane
from trigate.calls import CallKind, ToolCall, WireKey
from trigate.errors import LimitError
from trigate.framing import Frame
from trigate.protocols.openai_chat_wire import Fragment, present
from trigate.text import join_halves, shown, size_of
from trigate.turn import Turn

__all__ = ["Slot", "ToolCalls"]

PLACEHOLDER = "{}"
#: Types of calls with a `function`. Moonshot's builtin ones are calls too: the client echoes their arguments.
FUNCTION_TYPES = (None, "", "null", "function", "builtin_function")


class Slot:
    """One call, or text that is not known to belong to one yet."""

    __slots__ = (
        "call",
        "extra",
        "has_foreign_id",
        "has_rival",
        "held",
        "index",
        "key",
        "kind",
        "response_id",
        "restarts",
        "waiting",
    )

    def __init__(self, key: WireKey, index: int) -> None:
        self.key = key
        self.index = index
        self.kind: CallKind = "function"
        self.call: ToolCall | None = None  # opened when an id or a name is known
        self.waiting = Lane()  # text that came before either
        self.held = ""  # a {} that may be a placeholder
        self.response_id = ""  # that of the chunk in which it began
        self.restarts: list[int] = []  # sizes at which the call was introduced anew
        self.has_foreign_id = False
        self.has_rival = False  # its index belonged to a call before that was not whole yet
        self.extra: object = None

    @property
    def name(self) -> str:
        return self.call.name if self.call is not None else ""

    @property
    def call_id(self) -> str | None:
        return self.call.call_id if self.call is not None else None

    @property
    def text(self) -> str:
        return self._told.text + self.held

    @property
    def size(self) -> int:
        """Bytes of its text."""
        return self._told.size + len(self.held)

    @property
    def last(self) -> str:
        """The last character that is not blank."""
        return self.held[-1:] or self._told.last

    @property
    def _told(self) -> Lane:
        return self.call._lane if self.call is not None else self.waiting


class ToolCalls:
    """Routes the fragments of one choice to its calls, and closes them at its finish."""

    def __init__(self, turn: Turn, choice: int) -> None:
        self._turn = turn
        self._choice = choice
        self.slots: list[Slot] = []
        self._by_index: dict[int, Slot] = {}
        self._by_id: dict[str, Slot] = {}
        self.response_id = ""  # that of the chunk which is being read
        self._last: Slot | None = None
        self._has_indices = False  # this server numbers its calls
        self._function_call: Slot | None = None

    @property
    def calls(self) -> list[ToolCall]:
        return [slot.call for slot in self.slots if slot.call is not None]

    # -- fragments ---------------------------------------------------------------------------------

    def take(
        self, fragment: Fragment, name: str | None, text: str | None, is_string: bool, frame: Frame
    ) -> None:
        """One fragment of `tool_calls`; text: its arguments, or the input of a custom call."""
        call_id = present(fragment.id)
        if not (name or call_id or text or fragment.extra_content):
            return
        slot = self._route(fragment.index, call_id, name, frame)
        if slot is None:
            return
        self._last = slot
        if slot.has_rival and text and call_id is None:
            detail = f"index {slot.index} alone, while two of its calls are not whole"
            self._turn.conflict("ambiguous_fragment", frame.start, detail, *self.calls)
            return
        if not self._check_kind(slot, fragment, frame):
            return
        if fragment.extra_content and slot.extra is None:
            slot.extra = fragment.extra_content
        if slot.kind == "builtin":
            name = name or fragment.type
        self._feed(slot, call_id, name, text, frame)
        if not is_string and slot.call is not None:
            self._turn.flag(slot.call, "arguments_not_string")
        if text and name is None:
            self._follow(slot, fragment, call_id, text)

    def _follow(self, slot: Slot, fragment: Fragment, call_id: str | None, text: str) -> None:
        """A piece of a call that is known: the next one means the same, unless it may be a new beginning."""
        is_plain = not (slot.held or slot.has_foreign_id or fragment.extra_content)
        # Where calls have no index, one without it is sought by what was read last.
        is_routed = len(self.slots) == 1 or (self._has_indices and fragment.index is not None)
        if slot.call is not None and slot.name and is_plain and is_routed and call_id in (None, slot.call_id):
            self._turn.follow_arguments(slot.call, text)

    def take_function_call(self, name: str | None, text: str | None, is_string: bool, frame: Frame) -> None:
        """The deprecated single call, which has no id: it is answered by its name."""
        name = present(name)
        if not (name or text):
            return
        slot = self._function_call
        if slot is None:
            slot = self._function_call = self._add(
                (self._choice, "function_call"), len(self._by_index), frame
            )
        self._feed(slot, None, name, text, frame)
        if not is_string and slot.call is not None:
            self._turn.flag(slot.call, "arguments_not_string")

    def _route(self, index: int | None, call_id: str | None, name: str | None, frame: Frame) -> Slot | None:
        known = self._by_id.get(call_id) if call_id else None
        if known is not None:
            if index is not None and index != known.index:
                detail = f"{call_id} came at index {known.index} and at {index}"
                if name and known.name and name != known.name:
                    self._turn.conflict("call_id_reused", frame.start, detail, *self._of(known))
                    return None
                self._turn.anomaly("tool_index_changed", frame.start, detail, once=True)
            return known
        if index is None:
            return self._route_without_index(call_id, name, frame)
        newest = self._by_index.get(index)
        if newest is None:
            return self._open(index, frame)
        if call_id is None or (newest.call_id is None and name in (None, newest.name or name)):
            return newest
        if name is None and not (newest.size and _may_be_whole(newest)):
            # Some servers (old vLLM) make up an id for each fragment; a call of its own would have a name.
            newest.has_foreign_id = True
            detail = f"index {index}: {newest.call_id} became another, without a name"
            self._turn.anomaly("call_id_changed", frame.start, detail, once=True)
            return newest
        self._turn.anomaly("index_reused", frame.start, f"index {index} has a second call", once=True)
        return self._open(index, frame)

    def _route_without_index(self, call_id: str | None, name: str | None, frame: Frame) -> Slot | None:
        self._turn.anomaly("missing_index", frame.start, "a fragment without an index", once=True)
        last = self._last
        if call_id is not None or last is None:
            return self._open(None, frame)
        if name is not None:
            return last if last.call is not None and not last.name else self._open(None, frame)
        if last is not self.slots[-1] or (self._has_indices and len(self.slots) > 1):
            # The last that was opened, or the last that was fed? Or did it lose the index that its like have?
            # A guess could complete the wrong call.
            detail = "a fragment with neither index, id nor name, while several calls take turns"
            self._turn.conflict("ambiguous_fragment", frame.start, detail, *self.calls)
            return None
        return last

    def _open(self, index: int | None, frame: Frame) -> Slot:
        self._check_restart(index, frame)
        if index is None:
            place = max(self._by_index, default=-1) + 1
            slot = self._add((self._choice, place, "no index"), place, frame)
            self._by_index[place] = slot
        else:
            self._has_indices = True
            rival = self._by_index.get(index)
            reused = (len(self.slots),) if rival is not None else ()
            slot = self._by_index[index] = self._add((self._choice, index, *reused), index, frame)
            slot.has_rival = rival is not None and (rival.has_rival or not _may_be_whole(rival))
        return slot

    def _check_restart(self, index: int | None, frame: Frame) -> None:
        """A call that takes another one's place is one more call. Under another response id it is another
        attempt at the same turn: the two must not both run."""
        rival = (self.slots[-1] if self.slots else None) if index is None else self._by_index.get(index)
        if rival is not None and rival.response_id and rival.response_id != self.response_id:
            detail = f"{rival.response_id} became {self.response_id} between two calls at one place"
            self._turn.conflict("response_restarted", frame.start, detail, *self.calls)

    def _add(self, key: WireKey, index: int, frame: Frame) -> Slot:
        limit = self._turn.options.limits.max_calls
        if len(self.slots) >= limit:
            raise LimitError(
                f"max_calls = {limit} is passed, in the event at byte {frame.start}",
                code="too_many_calls",
                limit="max_calls",
                offset=frame.start,
            )
        slot = Slot(key, index)
        slot.response_id = self.response_id
        self.slots.append(slot)
        return slot

    def _check_kind(self, slot: Slot, fragment: Fragment, frame: Frame) -> bool:
        """Whether the fragment is of the slot's kind; the first one decides it."""
        kind: CallKind = "function"
        if fragment.custom is not None or fragment.type == "custom":
            kind = "custom"
        elif fragment.function is None and fragment.type not in FUNCTION_TYPES:
            kind = "builtin"
        if slot.call is None and not slot.waiting:
            slot.kind = kind
            if kind == "builtin":
                self._turn.unknown(f"tool call type {fragment.type!r}", frame.start)
        elif kind != slot.kind and (fragment.custom or fragment.function or kind == "builtin"):
            detail = f"a {slot.kind} call went on as a {kind} one"
            self._turn.conflict("call_type_changed", frame.start, detail, *self._of(slot))
            return False
        return True

    # -- what a fragment brings --------------------------------------------------------------------

    def _feed(
        self, slot: Slot, call_id: str | None, name: str | None, text: str | None, frame: Frame
    ) -> None:
        is_repeat = None not in (call_id, name) and (call_id, name) == (slot.call_id, slot.name)
        if text and is_repeat and self._is_snapshot(slot, text):
            self._repeat(slot, frame)
            return
        self._note_restart(slot, is_repeat, name, text or "", frame)
        if call_id is not None or name is not None:
            self._identify(slot, call_id, name, frame)
        if text:
            self._append(slot, text, frame)

    def _repeat(self, slot: Slot, frame: Frame) -> None:
        assert slot.call is not None
        if slot.kind == "custom":
            # Free text may well repeat itself, so this is either the same text again or the next piece of it.
            detail = f"{slot.name} {slot.call_id}: a frame that repeats everything, or an equal piece"
            self._turn.conflict("ambiguous_repeat", frame.start, detail, slot.call)
        else:
            self._turn.flag(slot.call, "snapshot_repeated")

    def _is_snapshot(self, slot: Slot, text: str) -> bool:
        """Whether a frame that repeats id and name repeats the finished text as well."""
        is_equal = size_of(text) == slot.size and text == slot.text
        return is_equal and (slot.kind == "custom" or (slot.last == "}" and _is_whole(text)))

    def _note_restart(self, slot: Slot, is_repeat: bool, name: str | None, text: str, frame: Frame) -> None:
        """Remembers where the call was introduced anew, behind what may be its whole text."""
        is_renamed = name is not None and slot.name not in ("", name)
        if is_renamed and slot.size and (slot.held or slot.kind == "custom"):
            detail = f"{slot.name!r} became {name!r} behind text that may be whole"
            self._turn.conflict("name_changed", frame.start, detail, *self._of(slot))
        elif slot.last != "}" or slot.held or slot.kind == "custom":
            return
        elif is_renamed or ((is_repeat or slot.has_foreign_id) and text.lstrip().startswith("{")):
            slot.restarts.append(slot.size)

    def _identify(self, slot: Slot, call_id: str | None, name: str | None, frame: Frame) -> None:
        turn = self._turn
        is_new = slot.call is None
        if slot.call is None:
            slot.call = turn.open_call(slot.key, index=slot.index, kind=slot.kind, offset=frame.start)
        call = slot.call
        if call_id is not None and call.call_id is None:
            turn.identify(call, call_id, None, frame.start)
            self._by_id[call_id] = slot
        if name is not None:
            if slot.has_foreign_id and name != call.name and call.name:
                detail = f"{call.name!r} became {name!r}, after its id had changed"
                turn.conflict("name_changed", frame.start, detail, call)
            turn.extend_name(call, name, frame.start)
        if is_new:
            turn.announce(call)
            if slot.waiting:
                turn.add_arguments(call, slot.waiting.text, frame.start)
                slot.waiting = Lane()

    def _append(self, slot: Slot, text: str, frame: Frame) -> None:
        is_object = slot.kind == "function"
        if slot.held:
            if text.lstrip().startswith("{"):
                assert slot.call is not None
                self._turn.flag(slot.call, "placeholder_dropped")
                slot.held = ""
            else:
                self.flush(slot, frame.start)
        elif not slot.size and text == PLACEHOLDER and is_object and slot.call is not None:
            slot.held = text
            return
        self._add_text(slot, text, frame.start)

    def _add_text(self, slot: Slot, text: str, offset: int | None) -> None:
        if slot.call is not None:
            self._turn.add_arguments(slot.call, text, offset)
        elif self._turn.keep(len(text), offset):
            slot.waiting.append(text)

    def flush(self, slot: Slot, offset: int | None) -> None:
        """No object follows the {}: it was the arguments."""
        if slot.held:
            text, slot.held = slot.held, ""
            self._add_text(slot, text, offset)

    # -- the end -----------------------------------------------------------------------------------

    def close(self, frame: Frame) -> None:
        """The choice ended well: its calls are whole, if all of their text has a name."""
        turn, offset = self._turn, frame.start
        for slot in self.slots:
            self.flush(slot, offset)
            if slot.call is None:
                if slot.waiting:
                    detail = f"index {slot.index}: {shown(slot.text)} belongs to no call"
                    turn.conflict("orphan_arguments", offset, detail, *self.calls)
            elif not slot.name:
                detail = f"index {slot.index}: the call {slot.call_id} has no name"
                turn.conflict("call_without_name", offset, detail, *self.calls)
            elif slot.restarts and _restarts_when_whole(slot.text, slot.restarts):
                detail = f"{slot.name} {slot.call_id} was introduced again behind its whole arguments"
                turn.conflict("arguments_differ", offset, detail, slot.call)
        if self._function_call is not None and len(self.slots) > 1:
            detail = "function_call beside tool_calls: one call in two forms, or two calls"
            turn.conflict("two_call_forms", offset, detail, *self.calls)
        for slot in self.slots:
            if slot.call is None:
                continue
            if slot.kind == "builtin":
                turn.void_call(slot.call, "unknown_type", offset, f"a tool call of type {slot.name!r}")
            else:
                turn.close_call(slot.call, offset, is_answered_by_name=slot is self._function_call)

    def _of(self, slot: Slot) -> list[ToolCall]:
        return [slot.call] if slot.call is not None else []


def _closed_at(data: bytes) -> int | None:
    """Where the first JSON value of `data` ends; None if it does not end."""
    tracker = JSONTracker()
    try:
        tracker.feed(data)
        tracker.finish()
    except LimitError:
        return None
    return tracker.closed_at


def _is_whole(text: str) -> bool:
    return _closed_at(join_halves(text).encode("utf-8", "replace")) is not None


def _may_be_whole(slot: Slot) -> bool:
    """Whether a call may need no more text; of free text nobody can say more than that there is some."""
    text = slot.text
    return bool(text) if slot.kind == "custom" else text.lstrip()[:1] == "{" and _is_whole(text)


def _restarts_when_whole(text: str, restarts: list[int]) -> bool:
    """Whether one of these places stands right behind the text's first whole JSON value, blanks allowed."""
    data = join_halves(text).encode("utf-8", "replace")
    end = _closed_at(data)
    if end is None:
        return False
    rest = data[end:]
    last = end + len(rest) - len(rest.lstrip(b" \t\r\n"))
    # Halves that were joined or replaced make the text shorter; a wider net does no harm here.
    return any(end <= place <= last + size_of(text) - len(data) for place in restarts)
