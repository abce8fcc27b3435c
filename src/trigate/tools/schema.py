"""A JSON Schema as data: closing it, finding a part of it, and saying in words what it expects.

Rules
 - Paths are JSON paths: `$.items[0].name`. A part is a member's name or an index.
 - Words are for a model that has to correct its arguments: short, and the allowed values themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from trigate.text import shortened

__all__ = ["Part", "Schema", "close", "part_at", "parts_of", "path_of", "value_at", "words"]

Schema: TypeAlias = dict[str, Any]
Part: TypeAlias = str | int

_PART = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
    "minLength": "length at least",
    "maxLength": "length at most",
    "pattern": "matching",
    "format": "format",
    "minItems": "items at least",
    "maxItems": "items at most",
}
_MAX_WORDS = 300
_MAX_NESTED = 3


def close(schema: Schema) -> Schema:
    """The same schema, changed in place: every object that lists its members refuses others, unless it says so."""
    waiting: list[Any] = [schema]
    while waiting:
        each = waiting.pop()
        if not isinstance(each, dict):
            continue
        if "properties" in each:
            each.setdefault("additionalProperties", False)
        for name in ("properties", "$defs"):
            waiting += each.get(name, {}).values()
        for name in ("anyOf", "oneOf", "allOf", "prefixItems"):
            waiting += each.get(name, ())
        waiting += [each.get(name) for name in ("items", "additionalProperties")]
    return schema


def path_of(parts: Iterable[Part]) -> str:
    """Parts as one JSON path."""
    return "$" + "".join(_part(each) for each in parts)


def _part(part: Part) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _PLAIN.fullmatch(part) else f"[{json.dumps(part, ensure_ascii=False)}]"


def parts_of(path: str) -> list[Part] | None:
    """The parts of a path as msgspec writes it; None where it does not say which member it is."""
    parts: list[Part] = []
    place = 1
    while place < len(path):
        match = _PART.match(path, place)
        if match is None:
            return None
        parts.append(match.group(1) if match.group(1) is not None else int(match.group(2)))
        place = match.end()
    return parts


def value_at(value: Any, parts: Iterable[Part]) -> Any:
    """The value at that place; KeyError, IndexError or TypeError where there is none."""
    for each in parts:
        value = value[each]
    return value


def part_at(root: Schema, parts: Iterable[Part]) -> Schema | None:
    """The schema of that place, where the schema says it in the plain way; else None."""
    schema: Any = root
    for each in parts:
        schema = _step(root, schema, each, _MAX_NESTED)
        if not isinstance(schema, dict):
            return None
    return _resolved(root, schema)


def _step(root: Schema, schema: Any, part: Part, depth: int) -> Any:
    """One part further. depth: how many alternatives may be nested, for a schema may refer to itself there."""
    if not isinstance(schema, dict) or not depth:
        return None
    schema = _resolved(root, schema)
    for name in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(name, ()):
            if isinstance(found := _step(root, each, part, depth - 1), dict):
                return found
    if isinstance(part, str):
        return schema.get("properties", {}).get(part, schema.get("additionalProperties"))
    fixed = schema.get("prefixItems", ())
    return fixed[part] if part < len(fixed) else schema.get("items")


def _resolved(root: Schema, schema: Schema) -> Schema:
    """A reference within the same schema followed, a few times at most."""
    for _ in range(10):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        target: Any = root
        for each in reference[1:].strip("/").split("/"):
            name = each.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if name and isinstance(target, dict) else target
        if not isinstance(target, dict):
            break
        schema = target
    return schema


def words(root: Schema, schema: Schema) -> str:
    """What it expects, in words; "" where it expects nothing in particular."""
    return shortened(_words(root, schema, _MAX_NESTED), _MAX_WORDS)


def _words(root: Schema, schema: Schema, depth: int) -> str:
    schema = _resolved(root, schema)
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if "enum" in schema:
        values = [json.dumps(each, ensure_ascii=False) for each in schema["enum"]]
        return values[0] if len(values) == 1 else f"one of {', '.join(values)}"
    for name in ("anyOf", "oneOf"):
        if name in schema and depth:
            told = [_words(root, each, depth - 1) for each in schema[name] if isinstance(each, dict)]
            return " or ".join(dict.fromkeys(filter(None, told)))
    kinds = schema.get("type", "")
    told_kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
    bounds = [f"{word} {schema[name]}" for name, word in _BOUNDS.items() if name in schema]
    if kinds == "object" and schema.get("required"):
        bounds.append("with " + ", ".join(schema["required"]))
    return ", ".join(filter(None, [told_kind, *bounds]))
