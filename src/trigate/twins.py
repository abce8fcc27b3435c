"""Calls that carry one id: one id is one call, so that two of them are a copy or a contradiction.

Rules
 - Ids count within their choice, where a wire has choices.
 - A call that was voided as a mere copy is no rival to the first one.
"""

from __future__ import annotations

from collections.abc import Iterator

from trigate.calls import ToolCall

__all__ = ["Twins"]


class Twins:
    """Looks for them among the calls of one response, a list that grows.

    has_choices: wire keys begin with a choice, each with its own indices and ids.
    """

    __slots__ = ("_calls", "_has_choices", "_whole")

    def __init__(self, calls: list[ToolCall], has_choices: bool) -> None:
        self._has_choices = has_choices
        self._calls = calls
        self._whole: dict[tuple[int | str, str], ToolCall] | None = None

    def choice_of(self, call: ToolCall) -> int | str:
        return call._wire_key[0] if self._has_choices else 0

    def of(self, call: ToolCall) -> ToolCall | None:
        """An earlier whole call of the same id; if there is none, this one is it from now on."""
        if call._call_id is None:
            return None
        if self._whole is None:
            self._whole = {}
        key = (self.choice_of(call), call._call_id)
        first = self._whole.setdefault(key, call)
        if first is call:
            return None
        if first._state == "void":
            self._whole[key] = call
            return None
        return first

    def is_contested(self, call: ToolCall) -> bool:
        """Whether a call that is open or void has the same id: then only the end tells which one is meant."""
        return call._call_id is not None and any(
            each._call_id == call._call_id and self.choice_of(each) == self.choice_of(call)
            for each in self._calls
            if each._position != call._position and each._problem != "repeated"
        )

    def pairs(self) -> Iterator[tuple[ToolCall, ToolCall]]:
        """Each call whose id an earlier one has, whole or cut, with that one."""
        if len(self._calls) < 2:
            return
        first: dict[tuple[int | str, str], ToolCall] = {}
        for call in self._calls:
            if call._call_id is None or call._problem == "repeated":
                continue
            twin = first.setdefault((self.choice_of(call), call._call_id), call)
            if twin is not call:
                yield call, twin
