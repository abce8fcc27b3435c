"""Arguments read into pydantic models, for those who have them. Only models that the caller brings are touched.

Rules
 - Strict, and extra members forbidden at every depth, whatever a model's own configuration says.
 - The arguments are read as JSON, so that what JSON cannot hold (dates, enums) has its usual spelling.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable
from typing import Any, get_args

from trigate.tools.arguments import UnfitError, fault, missing, unknown
from trigate.tools.problem import Finding
from trigate.tools.schema import Part, Schema, close, part_at, words

__all__ = ["ModelReader", "is_model", "mentions_model", "model_of"]


class ModelReader:
    """Reads into one model. ImportError for a pydantic that cannot forbid extra members from outside."""

    def __init__(self, model: Any) -> None:
        if "extra" not in inspect.signature(model.model_validate_json).parameters:
            raise ImportError("pydantic models of tools need pydantic 2.12 or newer")
        self._model = model
        self.schema: Schema = close(model.model_json_schema())
        self.schema.pop("title", None)

    def read(self, value: dict[str, Any]) -> Any:
        """The value as the model. UnfitError tells each fault that was found."""
        import pydantic

        try:
            return self._model.model_validate_json(json.dumps(value), strict=True, extra="forbid")
        except pydantic.ValidationError as error:
            raise UnfitError(self._finding(each) for each in error.errors(include_url=False)) from None

    def _finding(self, error: Any) -> Finding:
        parts: list[Part] = list(error["loc"])
        if error["type"] == "extra_forbidden":
            known = part_at(self.schema, parts[:-1]) or {}
            return unknown(parts, known.get("properties", ()))
        schema = part_at(self.schema, parts)
        expected = "" if schema is None else words(self.schema, schema)
        if error["type"] == "missing":
            return missing(parts, expected)
        return fault(parts, expected or error["msg"], error["input"])


def is_model(type_: Any) -> bool:
    """Whether it is a pydantic model class."""
    return (
        isinstance(type_, type)
        and hasattr(type_, "__pydantic_validator__")
        and hasattr(type_, "model_fields")
    )


def mentions_model(hint: Any) -> bool:
    """Whether a model stands somewhere in a type hint."""
    return is_model(hint) or any(mentions_model(each) for each in get_args(hint))


def model_of(name: str, parameters: Iterable[tuple[str, Any, Any]]) -> Any:
    """A model with those members: (name, type, default), `...` as the default of one that is required."""
    import pydantic

    members: dict[str, Any] = {each: (hint, default) for each, hint, default in parameters}
    return pydantic.create_model(name, **members)
