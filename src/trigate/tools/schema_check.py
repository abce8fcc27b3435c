"""Arguments checked against a plain JSON Schema, Draft 2020-12, by jsonschema-rs (the extra `schema`).

Rules
 - The schema is compiled once, when the tool is made: a wrong one is found there.
 - A reference leads only within the schema: nothing is fetched.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from typing import Any

from trigate.tools.arguments import UnfitError, fault, missing, unknown
from trigate.tools.problem import Finding
from trigate.tools.schema import Part, Schema, part_at, value_at, words

__all__ = ["SchemaReader"]

_MAX_SIZE = 2000


class SchemaReader:
    """Checks, and hands on the arguments as they are: a dict. ValueError for a schema that is wrong or no object's.

    ImportError where jsonschema-rs is not installed.
    """

    def __init__(self, schema: Schema) -> None:
        try:
            import jsonschema_rs
        except ImportError as error:
            raise ImportError(
                "a tool with a plain JSON Schema is checked by jsonschema-rs: pip install 'trigate[schema]'"
            ) from error
        if schema.get("type") != "object":
            raise ValueError(
                'the parameters of a tool are one JSON object: its schema needs "type": "object"'
            )
        self.schema = copy.deepcopy(schema)
        try:
            self._validator = jsonschema_rs.Draft202012Validator(self.schema, retriever=_refuse)
        except jsonschema_rs.ValidationError as error:
            raise ValueError(f"not a JSON Schema of Draft 2020-12: {error.message}") from error

    def read(self, value: dict[str, Any]) -> dict[str, Any]:
        """The same value. UnfitError tells each fault that was found."""
        if self._validator.is_valid(value):
            return value
        raise UnfitError(each for error in self._errors(value) for each in self._findings(error, value))

    def _errors(self, value: dict[str, Any]) -> Iterable[Any]:
        """The faults; of large arguments the first alone, for all are made at once, and each costs."""
        if _size(value) <= _MAX_SIZE:
            return list(self._validator.iter_errors(value))
        try:
            self._validator.validate(value)
        except ValueError as error:
            return [error]
        return []

    def _findings(self, error: Any, value: dict[str, Any]) -> Iterator[Finding]:
        parts: list[Part] = list(error.instance_path)
        kind = error.kind
        match type(kind).__name__.rpartition("_")[2]:
            case "Required":
                place = [*parts, kind.property]
                yield missing(place, self._expected(place))
            case "AdditionalProperties" | "UnevaluatedProperties":
                here = part_at(self.schema, parts) or {}
                for name in kind.unexpected:
                    yield unknown([*parts, name], here.get("properties", ()))
            case "FalseSchema":
                yield unknown(parts, ())
            case _:
                yield fault(parts, self._expected(parts) or _keyword(error), value_at(value, parts))

    def _expected(self, parts: list[Part]) -> str:
        schema = part_at(self.schema, parts)
        return "" if schema is None else words(self.schema, schema)


def _keyword(error: Any) -> str:
    """What the schema demands there, for a place that words() does not find: the keyword that failed."""
    return f"what {json.dumps([str(each) for each in error.schema_path])} of the schema demands"


def _size(value: Any) -> int:
    """How many values there are in it, as far as _MAX_SIZE is not passed by much."""
    count, waiting = 0, [value]
    while waiting and count <= _MAX_SIZE:
        each = waiting.pop()
        count += 1
        if isinstance(each, dict | list):
            count += len(each)
            waiting += each.values() if isinstance(each, dict) else each
    return count


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside of the schema: nothing is fetched")
