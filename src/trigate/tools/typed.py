"""Arguments read into Python types by msgspec: Structs, dataclasses, TypedDicts, and all that they are made of.

Rules
 - No coercion, and no unknown member at any depth: also in a nested type that would allow them.
 - msgspec stops at the first fault. So the members are read one by one when the whole does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec import inspect

from trigate.tools.arguments import MAX_COUNTED, UnfitError, fault, missing, unknown
from trigate.tools.problem import Finding
from trigate.tools.schema import Part, Schema, close, part_at, parts_of, value_at, words

__all__ = ["TypedReader"]

_PLACE = re.compile(r"(.*?)(?: - at `(.+)`)?", re.DOTALL)
_SEQUENCES = (
    inspect.ListType,
    inspect.SetType,
    inspect.FrozenSetType,
    inspect.CollectionType,
    inspect.VarTupleType,
)
_OBJECTS = (inspect.StructType, inspect.DataclassType, inspect.TypedDictType)


class TypedReader:
    """Reads into a type that stands for one JSON object. TypeError for a type that is none or that msgspec refuses."""

    def __init__(self, type_: Any) -> None:
        self._type = type_
        self._info = inspect.type_info(type_)
        if not isinstance(self._info, _OBJECTS) or getattr(self._info, "array_like", False):
            raise TypeError(f"arguments are one JSON object: {type_!r} is not the type of one")
        self._is_closed = _is_closed(self._info, set())
        self.schema = _schema_of(type_)

    def read(self, value: dict[str, Any]) -> Any:
        """The value as the type. UnfitError tells each fault that was found."""
        try:
            made = msgspec.convert(value, self._type, strict=True)
        except msgspec.ValidationError as error:
            faults = [*islice(_unknown_members(self._info, value, []), MAX_COUNTED), *self._faults(value)]
            raise UnfitError(faults or [self._fault(str(error), value, [])]) from None
        if not self._is_closed:
            UnfitError.raise_for(_unknown_members(self._info, value, []))
        return made

    def _faults(self, value: dict[str, Any]) -> Iterator[Finding]:
        """Each member by itself: the missing ones, and the first fault in each of the others."""
        if not issubclass(self._type, msgspec.Struct):
            return
        for field in msgspec.structs.fields(self._type):
            name = field.encode_name
            if name not in value:
                if field.required:
                    yield missing([name], self._expected([name]))
                continue
            try:
                msgspec.convert(value[name], field.type, strict=True)
            except msgspec.ValidationError as error:
                if "unknown field" not in str(error):  # those are told already, at every depth
                    yield self._fault(str(error), value, [name])

    def _fault(self, message: str, value: Any, parts: list[Part]) -> Finding:
        """msgspec's message as a finding; its place is within the member that `parts` names."""
        match = _PLACE.fullmatch(message)
        assert match is not None
        inner = parts_of(match.group(2) or "$")
        if inner is not None:
            parts = [*parts, *inner]
        told = match.group(1)
        if found := re.fullmatch(r"Object missing required field `(.+)`", told):
            return missing([*parts, found.group(1)], self._expected([*parts, found.group(1)]))
        # A type's own check says it best; msgspec's words are about Python's types, the schema's about JSON's.
        is_plain = inner is not None and told.startswith(("Expected ", "Invalid "))
        expected = (is_plain and self._expected(parts)) or told
        return fault(parts, expected, value_at(value, parts))

    def _expected(self, parts: list[Part]) -> str:
        schema = part_at(self.schema, parts)
        return "" if schema is None else words(self.schema, schema)


def _schema_of(type_: Any) -> Schema:
    """The type's JSON Schema as an object, not as a reference to one."""
    schema = msgspec.json.schema(type_)
    reference = schema.pop("$ref", None)
    if reference is not None:
        name = reference.rpartition("/")[2]
        schema |= schema["$defs"][name]
        if f'"{reference}"'.encode() not in msgspec.json.encode(schema):
            del schema["$defs"][name]
        if not schema["$defs"]:
            del schema["$defs"]
    schema.pop("title", None)
    return close(schema)


def _is_closed(info: inspect.Type, seen: set[type]) -> bool:
    """Whether msgspec itself refuses unknown members at every depth."""
    if isinstance(info, _OBJECTS):
        if info.cls in seen:
            return True
        seen.add(info.cls)
        is_closed = getattr(info, "forbid_unknown_fields", False)
        return is_closed and all(_is_closed(field.type, seen) for field in info.fields)
    inner = [getattr(info, name, None) for name in ("type", "item_type", "value_type")]
    inner += [*getattr(info, "types", ()), *getattr(info, "item_types", ())]
    inner += [field.type for field in getattr(info, "fields", ())]
    return all(_is_closed(each, seen) for each in inner if isinstance(each, inspect.Type))


def _unknown_members(info: inspect.Type, value: Any, parts: list[Part]) -> Iterator[Finding]:
    """Every member of the value, at any depth, that the type does not name."""
    if isinstance(info, inspect.Metadata):
        yield from _unknown_members(info.type, value, parts)
    elif isinstance(info, inspect.UnionType):
        for each in _candidates(info.types, value):
            yield from _unknown_members(each, value, parts)
    elif isinstance(value, dict):
        yield from _unknown_in_object(info, value, parts)
    elif isinstance(value, list):
        yield from _unknown_in_array(info, value, parts)


def _unknown_in_object(info: inspect.Type, value: dict[str, Any], parts: list[Part]) -> Iterator[Finding]:
    if isinstance(info, inspect.DictType):
        for name, each in value.items():
            yield from _unknown_members(info.value_type, each, [*parts, name])
    if not isinstance(info, _OBJECTS):
        return
    types = {field.encode_name: field.type for field in info.fields}
    tag = getattr(info, "tag_field", None)
    for name, each in value.items():
        if name in types:
            yield from _unknown_members(types[name], each, [*parts, name])
        elif name != tag:
            yield unknown([*parts, name], types)


def _unknown_in_array(info: inspect.Type, value: list[Any], parts: list[Part]) -> Iterator[Finding]:
    types: Iterable[inspect.Type] = ()
    if isinstance(info, _SEQUENCES):
        types = (info.item_type for _ in value)
    elif isinstance(info, inspect.TupleType):
        types = info.item_types
    elif isinstance(info, inspect.NamedTupleType) or getattr(info, "array_like", False):
        types = (field.type for field in info.fields)  # type: ignore[attr-defined]
    for index, (each, inner) in enumerate(zip(types, value, strict=False)):
        yield from _unknown_members(each, inner, [*parts, index])


def _candidates(types: tuple[inspect.Type, ...], value: Any) -> list[inspect.Type]:
    """The member of a union that the value would be read as; several ones tell themselves apart by a tag."""
    if not isinstance(value, dict):
        return list(types)
    objects = [each for each in types if isinstance(each, (*_OBJECTS, inspect.DictType))]
    if len(objects) < 2:
        return list(objects)
    return [
        each
        for each in objects
        if isinstance(each, inspect.StructType) and each.tag_field and value.get(each.tag_field) == each.tag
    ]
