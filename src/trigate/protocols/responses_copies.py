"""The copies of an item of a Responses turn: its pieces, its done events, and the final list must agree.

Rules
 - Copies of arguments must be equal as text: the first to come counts, another one is a conflict.
 - An item that the final list repeats byte for byte is not compared again, if nothing came for it in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from trigate.calls import ToolCall
from trigate.framing import Frame
from trigate.protocols.responses_items import CLIENT_ITEMS, SERVER_ITEMS, builtin_arguments
from trigate.protocols.responses_slots import Slot, Slots, client_kind
from trigate.protocols.responses_text import ResponsesText
from trigate.protocols.responses_wire import AnyItem, Item, item_of
from trigate.protocols.wire import as_json_text
from trigate.response import ServerCall, Status
from trigate.turn import Turn

__all__ = ["Copies"]


class Copies(msgspec.Struct, eq=False):
    """Compares what the items of one turn say of themselves, and closes them."""

    _turn: Turn
    _slots: Slots
    _text: ResponsesText

    def confirm(self, slot: Slot, raw: msgspec.Raw | str | None, event: Frame, copy: str) -> None:
        """One of the copies of the arguments: equal to what came before, or the first to come."""
        call = slot.call
        assert call is not None
        text, is_string = as_json_text(raw)
        if text is None:
            if call.arguments:
                self._turn.anomaly("arguments_missing", event.start, f"{copy} does not repeat the arguments")
            return
        if not is_string:
            self._turn.flag(call, "arguments_not_string")
        if text and slot.is_empty:
            detail = f"{copy} has arguments where an earlier copy had none"
            self._turn.conflict("arguments_differ", event.start, detail, call)
            return
        slot.is_empty = not (text or call.arguments)
        if text or slot.is_closed or call.arguments:
            self._turn.confirm_arguments(call, text, event.start, copy)

    def close(self, slot: Slot, item: Item | AnyItem, raw: bytes, event: Frame, copy: str) -> None:
        if slot.is_done:
            if slot.raw == raw:
                self._turn.anomaly("repeated_item", event.start, f"item {item.id} was done twice")
                return
            detail = f"item {item.id} was done twice, with different content"
            if slot.call is not None:
                self._turn.conflict("item_differs", event.start, detail, slot.call)
            else:
                self._turn.anomaly("item_differs", event.start, detail)
            return
        if not self._turn.keep(len(raw), event.start):
            return
        if slot.type != item.type and (slot.call is not None or client_kind(item) is not None):
            self._turn.conflict(
                "item_type_changed",
                event.start,
                f"{slot.type!r} became {item.type!r}",
                *([slot.call] if slot.call is not None else []),
            )
            return
        self._slots.finish(slot, raw)
        noted = self._turn.anomaly_count
        kind = client_kind(item)
        if kind is None:
            self._close_other(slot, item, event)
        else:
            if slot.call is None:
                self._slots.open_call(slot, kind, item, event)
            self._close_call(slot, item, event, copy)
        slot.is_settled = self._turn.anomaly_count == noted and _is_named(slot, item)

    def _close_call(self, slot: Slot, item: Item | AnyItem, event: Frame, copy: str) -> None:
        call, turn = slot.call, self._turn
        assert call is not None
        self._slots.identify(slot, item, event.start)
        known = CLIENT_ITEMS.get(item.type)
        if known is None or known.payload:
            text = builtin_arguments(item.type, slot.raw, event)
            turn.confirm_arguments(call, text, event.start, copy)
        else:
            self.confirm(slot, item.input if call.kind == "custom" else item.arguments, event, copy)
            if slot.first not in ("", "{}", call.arguments):
                detail = "the item began with other arguments than it ended with"
                turn.conflict("arguments_differ", event.start, detail, call)
        slot.is_closed = True
        if known is None:
            turn.void_call(call, "unknown_type", event.start, f"an item of type {item.type!r} with a call_id")
        elif not item.is_whole:
            turn.void_call(call, "incomplete", event.start, f"its item ended as {item.status!r}")
        else:
            turn.close_call(call, event.start)

    def _close_other(self, slot: Slot, item: Item | AnyItem, event: Frame) -> None:
        if slot.call is not None:
            detail = f"the item of {slot.call.call_id} says at its end that the provider runs it"
            self._turn.void_call(slot.call, "not_for_client", event.start, detail)
        if item.type in ("message", "reasoning"):
            self._text.item(slot.index, item, slot.raw, event)
            return
        if item.type not in SERVER_ITEMS and item.type not in CLIENT_ITEMS:
            self._turn.unknown(f"item type {item.type!r}", event.start)
        self._turn.server_call(ServerCall(item.type, item.id, item.name, item.status, slot.raw.decode()))
        self._turn.other(item.type, slot.raw.decode())

    # -- the final list ----------------------------------------------------------------------------

    def compare_final(
        self, output: Sequence[msgspec.Raw | bytes], status: Status, event: Frame
    ) -> tuple[bytes, ...]:
        """The final list against the streamed items. An empty list says nothing; any other must hold every call.

        Returns it, each item as it came.
        """
        turn, slots = self._turn, self._slots
        if status == "completed":
            slots.check_indices(event.start)
        if not output and slots.all and status == "completed":
            turn.anomaly("empty_final_output", event.start, "the final list of items is empty")
        items = self._confirm_items(output, status, event) if output else []
        for slot in slots.all:
            if output and slot.call is not None and not slot.is_confirmed:
                self._miss(slot.call, status, event)
            elif not slot.is_done and status == "completed":
                turn.anomaly("item_done_missing", event.start, f"{slot.type} at output_index {slot.index}")
            if slot.call is not None and not slot.call.call_id and not slot.call.name:
                turn.conflict("orphan_arguments", event.start, "arguments that belong to no item", slot.call)
        return tuple(items)

    def _confirm_items(
        self, output: Sequence[msgspec.Raw | bytes], status: Status, event: Frame
    ) -> list[bytes]:
        slots = self._slots
        items = [bytes(raw) for raw in output]
        match: Callable[[Item | AnyItem, int], Slot | None] | None = None
        has_twins = slots.has_twins
        order: list[int] = []
        for position, raw in enumerate(output):
            slot = slots.at(position)
            if has_twins or slot is None or slot.is_confirmed or not slot.is_repeated_by(items[position]):
                match = match or slots.matcher()
                item = item_of(raw, event)
                slot = self._found(match(item, position), item, status, event)
                self._confirm_item(slot, item, items[position], event)
            slot.is_confirmed = True
            order.append(slot.index)
        if order != sorted(order):
            self._turn.anomaly("final_order_differs", event.start, "the final list has another order")
        return items

    def _found(self, slot: Slot | None, item: Item | AnyItem, status: Status, event: Frame) -> Slot:
        turn = self._turn
        if slot is None:
            turn.anomaly("item_without_start", event.start, f"{item.type} {item.id} in the final list alone")
            return self._slots.open(self._slots.next_index(), item, event)
        if not slot.is_done and status == "completed":
            turn.anomaly("item_done_missing", event.start, f"{slot.type} at output_index {slot.index}")
        return slot

    def _miss(self, call: ToolCall, status: Status, event: Frame) -> None:
        """A call that the final list leaves out: of a completed response, that denies it."""
        if call.problem == "repeated":
            return
        detail = f"{call.name} {call.call_id} is not in the final list"
        if status == "completed":
            self._turn.conflict("call_missing_in_final_output", event.start, detail, call)
        else:
            self._turn.anomaly("call_missing_in_final_output", event.start, detail)

    def _confirm_item(self, slot: Slot, item: Item | AnyItem, raw: bytes, event: Frame) -> None:
        if not slot.is_done:
            self.close(slot, item, raw, event, "the final list")
            return
        if slot.call is None or client_kind(item) is None:
            if item.type in ("message", "reasoning"):
                self._text.item(slot.index, item, raw, event)
            return
        self._slots.identify(slot, item, event.start)
        known = CLIENT_ITEMS.get(item.type)
        if known is None or known.payload:
            if builtin_arguments(item.type, raw, event) != slot.call.arguments:
                self._turn.conflict("item_differs", event.start, f"{item.type} in the final list", slot.call)
        else:
            copy = item.input if slot.call.kind == "custom" else item.arguments
            self.confirm(slot, copy, event, "the final list")
        if not item.is_whole:
            self._turn.void_call(slot.call, "incomplete", event.start, f"the final list says {item.status!r}")


def _is_named(slot: Slot, item: Item | AnyItem) -> bool:
    """Whether the item is found by the id that it is known by: the call's where it is one, else its own."""
    if slot.type != item.type:
        return False
    if slot.call is not None:
        return bool(item.call_id) and item.call_id == slot.call.call_id
    return not item.call_id and bool(item.id) and item.id == slot.item_id
