"""Arguments that should come as pieces of text, and that some servers send as an object instead.

Rules
 - An object is a whole argument text: its JSON text as it came, with the flag `arguments_not_string`.
 - So it stands alone. Beside other pieces nothing tells which of the two is meant: a conflict.
"""

from __future__ import annotations

from trigate.calls import ToolCall
from trigate.turn import Turn

__all__ = ["add_piece"]

_WHOLE = "arguments_not_string"


def add_piece(turn: Turn, call: ToolCall, piece: str, is_text: bool, offset: int | None) -> None:
    """Adds a piece of arguments. is_text: whether it came as a string; else it is an object's text."""
    if call._lane and (not is_text or _WHOLE in call.flags):  # their text would be joined at each piece
        detail = "the arguments came whole and in pieces"
        turn.conflict("arguments_differ", offset, detail, call)
        return
    if not is_text:
        turn.flag(call, _WHOLE)
    turn.add_arguments(call, piece, offset)
