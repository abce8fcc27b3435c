"""The `_make_sse_decoder` point of an official SDK's clients: where a decoder is put in, for one client or for all.

Rules
 - A client's own patch comes before one of the whole process.
 - A patched client stays of its class: the SDKs look at the exact type of a client. It gets members of its own instead,
   and those that copy it hand the patch on: `with_options()` makes the same client with other options.
 - A client whose class has a decoder of its own (AWS event streams) reads no server-sent events, and is refused.
"""

from __future__ import annotations

import functools
import importlib
import sys
import weakref
from collections.abc import Callable
from typing import Any

from trigate.compat.patching import Make, Patch, Stack
from trigate.compat.shadow import Report, shadow

__all__ = ["SDKPoint", "made_by"]

_POINT = "_make_sse_decoder"
_COPIES = ("copy", "with_options")


def made_by(ours: Callable[[], Any], report: Report | None) -> Make:
    """What a patch puts in: our decoder; with a report the SDK's own, and ours reads the same bytes beside it."""

    def make(original: Callable[[], Any]) -> Any:
        return ours() if report is None else shadow(original(), ours(), report=report)

    return make


class SDKPoint:
    """One SDK's point. package: the name to import, and to install."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._base: type[Any] | None = None
        self._original: Callable[[Any], Any] | None = None
        self._dispatcher: Callable[[Any], Any] | None = None
        self._stack = Stack(self._put_in, self._take_out)

    def patch(self, client: object | None, make: Make) -> Patch:
        """TypeError: no client of this SDK. RuntimeError: the SDK or the client has no such point."""
        base = self._find()
        if client is None:
            return self._stack.push(make)
        if not isinstance(client, base):
            raise TypeError(f"patch() takes a client of {self._package}, not {_told(client)}")
        scope = self._scope(client)
        if scope is None or scope.owner() is not client:
            self._refuse_other_decoders(client, base)
            scope = _Scope(self, client, scope)
        return scope.stack.push(make)

    def unpatch(self, client: object | None) -> None:
        """Takes out the latest patch of the client, or of the process; RuntimeError if there is none."""
        if client is None:
            if not self._stack.pop():
                raise RuntimeError(f"unpatch(): {self._package} is not patched for the process")
            return
        scope = self._scope(client)
        if scope is None or scope.owner() is not client or not scope.stack.pop():
            inherited = scope is not None and scope.stack.top is not None
            words = "its patch is that of the client it was copied from" if inherited else "it has none"
            raise RuntimeError(f"unpatch(client): the client has no patch of its own, {words}")

    def original(self, client: Any) -> Any:
        """The SDK's own decoder."""
        self._find()
        assert self._original is not None
        return self._original(client)

    def _find(self) -> type[Any]:
        """The class that has the point; what stood there when this was first asked is the original."""
        if self._base is None:
            try:
                module = importlib.import_module(f"{self._package}._base_client")
            except ImportError as error:
                raise ImportError(
                    f"trigate.compat.{self._package} needs {self._package}: pip install {self._package}"
                ) from error
            base = getattr(module, "BaseClient", None)
            original = getattr(base, _POINT, None)
            decoder = getattr(module, "SSEDecoder", None)
            if base is None or original is None or not hasattr(decoder, "iter_bytes"):
                version = getattr(sys.modules.get(self._package), "__version__", "")
                raise RuntimeError(
                    f"{self._package} {version} has no place for another decoder"
                    f" (BaseClient.{_POINT}, and SSEDecoder.iter_bytes): nothing was patched"
                )
            self._base, self._original = base, original
        return self._base

    def _put_in(self) -> None:
        base, original = self._base, self._original
        assert base is not None
        assert original is not None
        if self._dispatcher is not None and vars(base).get(_POINT) is not original:
            return  # it is still there, beneath what somebody else put over it

        @functools.wraps(original)
        def make_sse_decoder(client: Any) -> Any:
            return self._make(self._stack, client, original)

        self._dispatcher = make_sse_decoder
        setattr(base, _POINT, make_sse_decoder)

    def _take_out(self) -> None:
        if vars(self._base).get(_POINT) is self._dispatcher:
            setattr(self._base, _POINT, self._original)
            self._dispatcher = None

    def _make(self, stack: Stack, client: Any, beneath: Callable[[Any], Any]) -> Any:
        top = stack.top
        return beneath(client) if top is None else top.make(functools.partial(self.original, client))

    def _scope(self, client: object) -> _Scope | None:
        return _scope_of(vars(client).get(_POINT)) if hasattr(client, "__dict__") else None

    def _refuse_other_decoders(self, client: object, base: type[Any]) -> None:
        own = vars(client).get(_POINT)
        if getattr(type(client), _POINT) is not getattr(base, _POINT) or (own and _scope_of(own) is None):
            raise RuntimeError(
                f"patch(client): {_told(client)} makes a decoder of its own; it may read no server-sent events"
            )


class _Scope:
    """The patches of one client, and of the copies made from it.

    beneath: what the client had from the one that it was copied from
    """

    def __init__(self, point: SDKPoint, client: object, beneath: _Scope | None) -> None:
        self.owner = weakref.ref(client)
        self.stack = Stack(self._put_in, self._take_out)
        self._point = point
        self._beneath = beneath

    def make(self, client: Any) -> Any:
        below = self._beneath.make if self._beneath else getattr(type(client), _POINT)
        return self._point._make(self.stack, client, below)

    def copy(self, client: Any, *args: Any, **options: Any) -> Any:
        copied = type(client).copy(client, *args, **options)
        self._hand_on(copied)
        return copied

    def _hand_on(self, client: Any) -> None:
        members = vars(client)
        members[_POINT] = functools.partial(self.make, client)
        for name in _COPIES:
            copying = functools.partial(self.copy, client)
            members[name] = functools.update_wrapper(copying, getattr(type(client), name).__get__(client))

    def _put_in(self) -> None:
        self._hand_on(self.owner())

    def _take_out(self) -> None:
        client = self.owner()
        if client is None or _scope_of(vars(client).get(_POINT)) is not self:
            return
        if self._beneath is not None:
            self._beneath._hand_on(client)
            return
        for name in (_POINT, *_COPIES):
            vars(client).pop(name, None)


def _scope_of(member: object) -> _Scope | None:
    """The scope behind a client's member, if the member is one of ours."""
    scope = getattr(getattr(member, "func", None), "__self__", None)
    return scope if isinstance(scope, _Scope) else None


def _told(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"{type(value).__qualname__}"
