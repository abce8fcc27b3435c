"""One file per protocol: what its bytes mean. The rest of the package speaks only the neutral words."""

from __future__ import annotations

from trigate.protocols.auto import Auto
from trigate.protocols.registry import PROTOCOLS, Interpreter

__all__ = ["PROTOCOLS", "Interpreter", "interpreter"]


_BY_NAME: dict[str, type[Interpreter]] = {**PROTOCOLS, Auto.name: Auto}


def interpreter(name: str) -> type[Interpreter]:
    """The interpreter of that name, `auto` included; ValueError names the known ones."""
    try:
        return _BY_NAME[name]
    except (KeyError, TypeError):
        known = ", ".join(PROTOCOLS)
        raise ValueError(f"unknown protocol {name!r}; the known ones are {known}, and auto") from None
