"""A function's parameters as a tool's: what the model may give, and where the context goes.

Rules
 - Every parameter has a type and is passed by name: `*args`, `**kwargs` and positional-only ones are refused.
 - A parameter annotated `Context` is not the model's: it gets the call's context.
 - Only what the model gave is passed on: defaults stay the function's own.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from trigate.tools.arguments import ArgumentReader
from trigate.tools.context import Context
from trigate.tools.pydantic_models import ModelReader, mentions_model, model_of
from trigate.tools.schema import Schema
from trigate.tools.typed import TypedReader

__all__ = ["SignatureReader", "context_parameter"]

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_REQUIRED = inspect.Parameter.empty


class _Parameter(NamedTuple):
    name: str
    hint: Any
    default: Any


class SignatureReader:
    """Reads arguments into a dict by parameter. TypeError for a function that cannot be a tool's."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        parameters = list(_parameters(name, function))
        self._reader: ArgumentReader
        try:
            if any(mentions_model(each.hint) for each in parameters):
                members = ((n, h, ... if d is _REQUIRED else d) for n, h, d in parameters)
                self._reader = ModelReader(model_of(name, members))
            else:
                fields = [_field(each) for each in parameters]
                made = msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
                self._reader = TypedReader(made)
        except TypeError as error:
            raise TypeError(f"the parameters of {name} cannot be a tool's: {error}") from error
        self.schema: Schema = self._reader.schema

    def read(self, value: dict[str, Any]) -> dict[str, Any]:
        """What the model gave, each as its parameter's type. UnfitError."""
        made = self._reader.read(value)
        return {name: getattr(made, name) for name in value}


def _parameters(name: str, function: Callable[..., Any]) -> Iterator[_Parameter]:
    hints = _hints(name, function)
    for each in inspect.signature(function).parameters.values():
        if each.kind not in _BY_NAME:
            raise TypeError(f"{name} takes {each}: a tool's parameters are named one by one")
        if each.name not in hints:
            raise TypeError(f"the parameter {each.name} of {name} has no type")
        if not _is_context(hints[each.name]):
            yield _Parameter(each.name, hints[each.name], each.default)


def _hints(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"the types of {name} cannot be found: {error}; they must stand at the level of the module"
        ) from error


def _field(parameter: _Parameter) -> Any:
    if parameter.default is _REQUIRED:
        return parameter.name, parameter.hint
    if isinstance(parameter.default, str | int | float | None):
        return parameter.name, parameter.hint, parameter.default
    # Never used, for only what was given is passed on; it makes the member optional without showing the value.
    return parameter.name, parameter.hint, msgspec.field(default_factory=lambda: None)


def _is_context(hint: Any) -> bool:
    return hint is Context or Context in typing.get_args(hint)


def context_parameter(function: Callable[..., Any]) -> str | None:
    """The name of the parameter that takes the context, if there is one."""
    hints = _hints(getattr(function, "__name__", type(function).__name__), function)
    return next((each for each, hint in hints.items() if each != "return" and _is_context(hint)), None)
