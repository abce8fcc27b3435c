"""A tool: what the model is shown, how its arguments are read, what runs, and what it declares about itself.

Rules
 - A tool is a side effect unless it says that it only reads.
 - The schema comes from the function's types; or it is given, as a type or as plain JSON Schema, and then the
   function takes the arguments as one value.
 - Nothing here decides whether a call may run: that is `judge`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, overload

import msgspec

from trigate.tools.arguments import ArgumentReader, TextReader
from trigate.tools.context import Context
from trigate.tools.problem import Problem, ToolError
from trigate.tools.pydantic_models import ModelReader, is_model
from trigate.tools.schema_check import SchemaReader
from trigate.tools.signature import SignatureReader, context_parameter
from trigate.tools.typed import TypedReader

__all__ = ["Reconciled", "Tool", "as_tool", "tool"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_DEEPEST = 500
_DECLARED = (
    *("kind", "read_only", "permission", "timeout", "max_result_bytes", "max_depth"),
    *("reconcile", "fresh"),
)


class Reconciled(msgspec.Struct, frozen=True):
    """What a tool found out about a call whose outcome was unknown.

    outcome: "succeeded" or "failed": it ran, and ended so. "not_run": it surely did not happen, so it may run.
    "unknown": it still cannot be told. result: what the call would have returned, as far as it is known.
    """

    outcome: Literal["succeeded", "failed", "not_run", "unknown"]
    result: Any = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """One tool. ValueError or TypeError for one that cannot work.

    function          what runs; sync or async. A parameter annotated Context gets the call's context
    name              1 to 64 letters, digits, _ and -, no digit or - first; "" for the function's own
    description       for the model; "" for the function's docstring
    parameters        None: from the function's types. A type (Struct, dataclass, TypedDict, pydantic model) or a JSON
                      Schema: the function takes one value, of that type or a dict. Afterwards the schema itself
    kind              "function", or "custom": the function takes one str, the free text of the call
    read_only         True: running it again does no harm. False: it is a side effect
    permission        the word that a policy must have granted; None for none
    timeout           seconds for one run
    max_result_bytes  bound of the result as text; a longer one is `too_large`
    max_depth         bound of the nesting of arguments
    reconcile         asked, with the same arguments, what became of a call with an unknown outcome: a Reconciled
    fresh             asked, with the same arguments, right before the run: None where the world is as the call
                      expects it, or a Problem (stale_version, not_found)
    """

    function: Callable[..., Any]
    name: str = ""
    description: str = ""
    parameters: Any = None
    kind: Literal["function", "custom"] = "function"
    read_only: bool = False
    permission: str | None = None
    timeout: float = 30.0
    max_result_bytes: int = 64 * 1024
    max_depth: int = 100
    reconcile: Callable[..., Reconciled] | None = None
    fresh: Callable[..., Problem | None] | None = None
    _reader: ArgumentReader = field(init=False, repr=False)
    _by_name: bool = field(init=False, repr=False)
    _contexts: dict[str, str | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"a tool's function must be callable, not {type(self.function).__name__}")
        put = object.__setattr__
        put(self, "name", self.name or getattr(self.function, "__name__", ""))
        put(self, "description", self.description or inspect.getdoc(self.function) or "")
        self._check()
        reader, by_name = self._make_reader()
        put(self, "_reader", reader)
        put(self, "_by_name", by_name)
        put(self, "parameters", reader.schema)
        asked = {"function": self.function, "fresh": self.fresh, "reconcile": self.reconcile}
        contexts = {role: each and context_parameter(each) for role, each in asked.items()}
        put(self, "_contexts", contexts)

    def _check(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"a tool's name is 1 to 64 letters, digits, _ or -, beginning with a letter or _: {self.name!r} is not"
            )
        if self.kind not in ("function", "custom"):
            raise ValueError(f"kind must be 'function' or 'custom', not {self.kind!r}")
        if self.max_depth > _DEEPEST:
            raise ValueError(f"max_depth of {self.name} must be at most {_DEEPEST}: readers recurse")
        for name in ("timeout", "max_result_bytes", "max_depth"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise ValueError(f"{name} of {self.name} must be a positive number, not {value!r}")
        for name in ("reconcile", "fresh"):
            if inspect.iscoroutinefunction(getattr(self, name)):
                raise TypeError(
                    f"{name} of {self.name} must be a plain function: it is asked outside of a loop"
                )

    def _make_reader(self) -> tuple[ArgumentReader, bool]:
        """What reads the arguments, and whether the function takes them by name."""
        if self.kind == "custom":
            if self.parameters is not None:
                raise ValueError(f"{self.name} is a custom tool: its argument is free text, without a schema")
            return TextReader(), False
        if self.parameters is None:
            return SignatureReader(self.name, self.function), True
        if isinstance(self.parameters, dict):
            return SchemaReader(self.parameters), False
        return (ModelReader if is_model(self.parameters) else TypedReader)(self.parameters), False

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function: what `run` returns must be awaited."""
        function = self.function
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object may be a tool's function
        )

    def read(self, value: dict[str, Any]) -> Any:
        """Decoded JSON arguments as the function takes them. UnfitError if they do not fit."""
        return self._reader.read(value)

    def run(self, arguments: Any, context: Context) -> Any:
        """Calls the function with read arguments: its result, or an awaitable of it."""
        return self._call("function", arguments, context)

    def ask_fresh(self, arguments: Any, context: Context) -> Problem | None:
        """Asks whether the world is as the call expects it."""
        return None if self.fresh is None else self._call("fresh", arguments, context)

    def ask_reconcile(self, arguments: Any, context: Context) -> Reconciled:
        """Asks what became of an earlier run; "unknown" of a tool that cannot tell."""
        if self.reconcile is None:
            return Reconciled("unknown")
        told = self._call("reconcile", arguments, context)
        if not isinstance(told, Reconciled):
            raise TypeError(f"reconcile of {self.name} must return a Reconciled, not {type(told).__name__}")
        return told

    def _call(self, role: str, arguments: Any, context: Context) -> Any:
        function, wanted = getattr(self, role), self._contexts[role]
        extra = {wanted: context} if wanted else {}
        return function(**arguments, **extra) if self._by_name else function(arguments, **extra)

    def result_text(self, result: Any) -> str:
        """A result as the text that goes to the model: a str as it is, anything else as JSON.

        ToolError: `too_large` beyond max_result_bytes, `tool_error` for what is neither text nor JSON.
        """
        if isinstance(result, str):
            data = result.encode("utf-8", "replace") if len(result) <= self.max_result_bytes else b""
            size = len(data) or len(result)
        else:
            try:
                data = msgspec.json.encode(result)
            except (TypeError, ValueError, RecursionError, OverflowError) as error:
                raise ToolError(f"the result of {self.name} cannot be written as JSON") from error
            size = len(data)
        if size > self.max_result_bytes:
            raise ToolError(
                f"the result has at least {size} bytes, and {self.max_result_bytes} are allowed",
                code="too_large",
                facts={"limit_bytes": self.max_result_bytes},
            )
        return data.decode()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function itself, for who calls it from Python."""
        return self.function(*args, **kwargs)


def as_tool(thing: Any) -> Tool:
    """A Tool; or one made of any object with name, description, parameters and function. TypeError."""
    if isinstance(thing, Tool):
        return thing
    try:
        members = {name: getattr(thing, name) for name in ("name", "parameters", "function")}
    except AttributeError as error:
        raise TypeError(
            f"a tool has a name, parameters and a function: {thing!r} has not; @tool makes one of a function"
        ) from error
    for name in ("description", *_DECLARED):
        if hasattr(thing, name):
            members[name] = getattr(thing, name)
    return Tool(**members)


_F = TypeVar("_F", bound=Callable[..., Any])


@overload
def tool(function: _F, /) -> Tool: ...
@overload
def tool(**declared: Any) -> Callable[[_F], Tool]: ...
def tool(function: Any = None, /, **declared: Any) -> Any:
    """Makes a Tool of a typed function: `@tool`, or `@tool(read_only=True, ...)` with the members of Tool."""
    if function is not None:
        return Tool(function=function, **declared)
    return lambda each: Tool(function=each, **declared)
