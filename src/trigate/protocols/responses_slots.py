"""The output items of a Responses turn by their place: which item does an event belong to?

Rules
 - output_index routes; item_id is a check, because gateways rewrite it. A late fragment of an item whose
   index was given to another one still finds its own item by its id.
 - An item that the client has to act on has its call from the first moment on which that is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import msgspec

from trigate.calls import CallKind, ToolCall
from trigate.framing import Frame
from trigate.protocols.responses_items import CLIENT_ITEMS, SERVER_ITEMS
from trigate.protocols.responses_wire import AnyItem, Item, ItemMembers, Place
from trigate.protocols.wire import as_json_text
from trigate.turn import Turn

__all__ = ["Slot", "Slots", "client_kind"]

# What an item costs beside its text: objects, and its place in the indices.
_SLOT_SIZE = 500
# One string for each type, whatever number of items has it.
_TYPES = {name: name for name in (*CLIENT_ITEMS, *SERVER_ITEMS)}


class Slot(msgspec.Struct, eq=False):
    """One output item: where it stands, what it is, and how far it has come."""

    index: int
    item_id: str | None
    type: str
    call: ToolCall | None = None
    first: str = ""  # the arguments that the item began with: normally none
    is_closed: bool = False  # its argument text is closed
    is_done: bool = False
    is_empty: bool = False  # a copy of its arguments was the empty text
    is_confirmed: bool = False  # the final list has it
    has_rival: bool = False  # its index belonged to an item before whose call was open
    raw: bytes = b""
    is_settled: bool = False  # it was done with nothing remarkable, and nothing came for it since

    def is_repeated_by(self, raw: bytes) -> bool:
        """Whether a copy of the whole item is, byte for byte, what was taken of it: then it says nothing new."""
        if not (self.is_settled and self.raw == raw):
            return False
        return self.call is None or self.call.state in ("done", "released")


def client_kind(item: ItemMembers) -> CallKind | None:
    """Whether the client has to act on this item, and how its arguments are to be read."""
    known = CLIENT_ITEMS.get(item.type)
    if known is not None:
        return known.kind if known.is_for_client(item.execution, item.environment) else None
    if item.call_id and item.type not in SERVER_ITEMS:
        return "builtin"
    return None


class Slots(msgspec.Struct, eq=False):
    """All items of one turn, in the order in which they began."""

    _turn: Turn
    _by_index: dict[int, Slot] = {}
    _by_name: dict[str | tuple[int, str], Slot] = {}
    _named: int = 0  # so many of all are there
    _unfinished: dict[Slot, None] = {}
    _next: int = 0
    all: list[Slot] = []

    def at(self, index: int) -> Slot | None:
        """The newest item at an output index."""
        return self._by_index.get(index)

    def next_index(self) -> int:
        return self._next

    def index_of(self, index: int | None, offset: int | None) -> int:
        if index is not None:
            return index
        self._turn.anomaly("missing_index", offset, "an item without output_index", once=True)
        return self.next_index()

    def open(self, index: int, item: Item | AnyItem, event: Frame) -> Slot:
        slot = Slot(index, item.id, _TYPES.get(item.type, item.type))
        words = len(item.id or "") + len(item.type) + len(item.call_id or "") + len(item.name or "")
        if not self._turn.keep(_SLOT_SIZE + words, event.start):
            return slot
        rival = self._by_index.get(index)
        slot.has_rival = rival is not None and rival.call is not None and not rival.is_done
        self._by_index[index] = slot
        if index >= self._next:
            self._next = index + 1
        self._unfinished[slot] = None
        self.all.append(slot)
        kind = client_kind(item)
        if kind is not None:
            self.open_call(slot, kind, item, event)
        return slot

    def _called(self, name: str | tuple[int, str]) -> Slot | None:
        """The first item of this id, or of this index and id. It is asked for so seldom that names are noted late."""
        for slot in self.all[self._named :]:
            self._name(slot)
        self._named = len(self.all)
        return self._by_name.get(name)

    def _name(self, slot: Slot) -> None:
        if slot.item_id:
            self._by_name.setdefault((slot.index, slot.item_id), slot)
            self._by_name.setdefault(slot.item_id, slot)

    def finish(self, slot: Slot, raw: bytes) -> None:
        """The item is whole."""
        slot.raw = raw
        slot.is_done = True
        self._unfinished.pop(slot, None)

    def kept(self) -> list[bytes]:
        """The items in the order of their places, each as it came; none, if one of them is not whole."""
        raws = [slot.raw for _, slot in sorted(self._by_index.items())]
        return raws if all(raws) else []

    def open_calls(self) -> list[ToolCall]:
        """The calls whose argument text is still open."""
        return [slot.call for slot in self._unfinished if slot.call is not None and not slot.is_closed]

    def open_call(self, slot: Slot, kind: CallKind, item: Item | AnyItem, event: Frame) -> None:
        slot.call = self._turn.open_call(
            (slot.index, slot.item_id or ""), index=slot.index, kind=kind, offset=event.start
        )
        self.identify(slot, item, event.start)
        slot.first = as_json_text(item.input if kind == "custom" else item.arguments)[0] or ""
        self._turn.announce(slot.call)

    def identify(self, slot: Slot, item: ItemMembers, offset: int | None) -> None:
        assert slot.call is not None
        known = CLIENT_ITEMS.get(item.type)
        call_id = item.id if known is not None and known.answers_by_id else item.call_id
        # A built-in tool's own name says how it is answered; what an item calls itself is in its arguments.
        name = (
            (known.name if known is not None else None) or item.name or (item.type if known is None else None)
        )
        self._turn.identify(slot.call, call_id, name, offset)
        if item.namespace:
            self._turn.flag(slot.call, "namespaced")

    def find(self, place: Place, event: Frame) -> Slot | None:
        """The slot that a fragment belongs to: by output_index, else by item_id, else the only open one."""
        index = place.output_index
        slot = None if index is None else self._by_index.get(index)
        if slot is None or (place.item_id and place.item_id != slot.item_id):
            slot = self._sought(place, event)
        if slot is not None:
            slot.is_settled = False
        return slot

    def _sought(self, place: Place, event: Frame) -> Slot | None:
        if place.output_index is not None:
            slot = self._by_index.get(place.output_index)
            if slot is not None and place.item_id and place.item_id != slot.item_id:
                other = self._called((place.output_index, place.item_id))
                if other is not None:
                    return other
                if slot.item_id:
                    self._turn.anomaly(
                        "item_id_changed", event.start, f"output_index {slot.index}", once=True
                    )
                else:
                    slot.item_id = place.item_id
                    self._name(slot)
            return slot
        self._turn.anomaly("missing_index", event.start, "a fragment without output_index", once=True)
        if place.item_id:
            return self._called(place.item_id)
        return next(iter(self._unfinished)) if len(self._unfinished) == 1 else None

    def implied(self, item_type: str, place: Place, event: Frame) -> Slot:
        """The item of a piece of text; it never began, and is opened for that."""
        index = self.index_of(place.output_index, event.start)
        self._turn.anomaly("delta_without_start", event.start, f"output_index {index}", once=True)
        return self.open(index, Item(type=item_type, id=place.item_id), event)

    def orphan(self, item_type: str, place: Place, event: Frame) -> Slot | None:
        """Arguments for an item that never began: kept under their index until the item says who it is."""
        self._turn.anomaly(
            "delta_without_start", event.start, f"output_index {place.output_index}", once=True
        )
        if place.output_index is None:
            self._turn.conflict("orphan_arguments", event.start, "arguments that belong to no item")
            return None
        return self.open(place.output_index, Item(type=item_type, id=place.item_id), event)

    def check_indices(self, offset: int | None) -> None:
        """Items may begin in any order, but at the end no index may be left out."""
        if len(self._by_index) != self._next or (self._by_index and min(self._by_index) < 0):
            told = sorted(self._by_index)[:20]
            self._turn.anomaly("index_gap", offset, f"the items have the output indices {told}")

    @property
    def has_twins(self) -> bool:
        """Whether items may share an index or an id: then neither tells alone to which of them a copy belongs."""
        if len(self.all) == 1:
            return not self.all[0].item_id
        item_ids = {slot.item_id for slot in self.all if slot.item_id}
        if not len(self._by_index) == len(item_ids) == len(self.all):
            return True
        call_ids = [slot.call.call_id for slot in self.all if slot.call is not None]
        return len(set(call_ids)) != len(call_ids)

    def matcher(self) -> Callable[[ItemMembers, int], Slot | None]:
        """Finds the streamed item that one of the final list repeats, each at most once: by call_id, else by id,
        else by its place. Two different call_ids are two calls, whatever their place.
        """
        found: dict[tuple[str, str, str | int], deque[Slot]] = {}
        for slot in self.all:
            call_id = slot.call.call_id if slot.call is not None else None
            for kind, key in (("call", call_id), ("item", slot.item_id), ("place", slot.index)):
                if key is not None and key != "":
                    found.setdefault((slot.type, kind, key), deque()).append(slot)

        def match(item: ItemMembers, position: int) -> Slot | None:
            for kind, key in (("call", item.call_id), ("item", item.id), ("place", position)):
                if key is None or key == "":
                    continue
                candidates = found.get((item.type, kind, key))
                while candidates and candidates[0].is_confirmed:
                    candidates.popleft()
                if candidates and not (kind == "place" and _is_other_call(candidates[0], item)):
                    return candidates[0]
            return None

        return match


def _is_other_call(slot: Slot, item: ItemMembers) -> bool:
    return bool(slot.call is not None and slot.call.call_id and item.call_id)
