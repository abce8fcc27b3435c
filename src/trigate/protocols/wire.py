"""How protocol modules read an event's JSON: into typed members, strictly, and nothing else.

Rules
 - A text that is no JSON fails with the byte that broke it. One that is JSON but not of the expected shape
   fails with the path. Neither is ever skipped: a lost piece would leave a shorter, perhaps valid argument text.
 - msgspec refuses halves of surrogate pairs, which JSON allows; those events take json's decoder instead.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar, get_type_hints

import msgspec

from trigate._core import JSONTracker
from trigate.errors import DecodeError, LimitError, StructureError
from trigate.framing import Frame
from trigate.response import ErrorInfo

__all__ = ["as_json_text", "decode", "error_info", "fields_of"]

_T = TypeVar("_T", bound=msgspec.Struct)
_decoders: dict[type, msgspec.json.Decoder[Any]] = {}


def decode(data: bytes | msgspec.Raw, shape: type[_T], event: Frame) -> _T:
    """`data` (the event's, or a part of it) as `shape`; members that it does not name are ignored.

    DecodeError (invalid_json), StructureError (wrong_shape) and LimitError (depth_too_large) carry offsets.
    """
    decoder = _decoders.get(shape)
    if decoder is None:
        decoder = _decoders[shape] = msgspec.json.Decoder(shape)
    try:
        made: _T = decoder.decode(data)
    except msgspec.ValidationError as error:
        raise _wrong_shape(str(error), event) from None
    except msgspec.DecodeError as error:
        return _decode_slowly(bytes(data), shape, event, str(error))
    except RecursionError:
        raise _too_deep(event) from None
    return made


def _wrong_shape(what: str, event: Frame) -> StructureError:
    return StructureError(
        f"the event at byte {event.start} has an unexpected member: {what}", code="wrong_shape", offset=event.start
    )


def _too_deep(event: Frame) -> LimitError:
    return LimitError(
        f"the event at byte {event.start} is nested deeper than the interpreter can decode",
        code="depth_too_large",
        limit="max_depth",
        offset=event.start,
    )


def _decode_slowly(data: bytes, shape: type[_T], event: Frame, why: str) -> _T:
    tracker = JSONTracker(max_depth=2**31)
    tracker.feed(data)
    if tracker.finish() != "closed":
        at = len(data) if tracker.error_at is None else tracker.error_at
        raise DecodeError(
            f"the data of the event at byte {event.start} is not JSON from its byte {at} on",
            code="invalid_json",
            offset=(event.data_start or 0) + at,
        )
    try:
        value = json.loads(data)
        return _build(value, shape)
    except msgspec.ValidationError as error:
        raise _wrong_shape(str(error), event) from None
    except RecursionError:
        raise _too_deep(event) from None
    except ValueError:
        raise _wrong_shape(why, event) from None


def _build(value: Any, shape: type[_T]) -> _T:
    """msgspec.convert, with members of type Raw written out again."""
    if not isinstance(value, dict):
        raise msgspec.ValidationError(f"Expected `object`, got `{type(value).__name__}`")
    hints = get_type_hints(shape)
    raw = {name for name, hint in hints.items() if hint is msgspec.Raw}
    made = msgspec.convert({name: member for name, member in value.items() if name not in raw}, shape)
    for name in raw & value.keys():
        setattr(made, name, msgspec.Raw(json.dumps(value[name]).encode()))
    return made


def fields_of(raw: msgspec.Raw | bytes) -> Any:
    """A part of an event as plain Python values, halves of surrogate pairs included."""
    return json.loads(bytes(raw)) if raw else None


def as_json_text(raw: msgspec.Raw) -> tuple[str | None, bool]:
    """Arguments as they came: (text, True) for a JSON string, (None, True) for null or absent, and
    (the JSON text of the value, False) where an object was sent instead of a string."""
    text = bytes(raw)
    if not text or text == b"null":
        return None, True
    if text[:1] == b'"':
        return json.loads(text), True
    return text.decode(), False


def error_info(value: Any, offset: int | None) -> ErrorInfo:
    """A provider's error, in any of the shapes in which they come.

    Nested ({"error": {type, code, message}}), flat ({type, code, message}), a plain string, or {"detail": ...}.
    """
    outer = value if isinstance(value, dict) else {}
    nested = outer.get("error", value)
    inner = nested if isinstance(nested, dict) else {}
    message = nested if isinstance(nested, str) and nested else None
    for member in ("message", "detail", "error"):
        message = message or inner.get(member) or outer.get(member)
    kind = inner.get("type") or inner.get("status")
    if kind is None and outer.get("type") not in ("error", None) and not inner:
        kind = outer["type"]
    code = inner.get("code")
    if code is None:
        code = outer.get("code")
    kind_text = str(kind) if kind is not None else "error"
    return ErrorInfo(
        layer="provider",
        type=kind_text,
        code=code if isinstance(code, (str, int)) else kind_text,
        message=message if isinstance(message, str) else json.dumps(message or value, ensure_ascii=False),
        offset=offset,
        raw=value,
    )
