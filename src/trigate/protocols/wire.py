"""How protocol modules read an event's JSON: into typed members, strictly, and nothing else.

Rules
 - A text that is no JSON fails with the byte that broke it. One that is JSON but not of the expected shape
   fails with the path. Neither is ever skipped: a lost piece would leave a shorter, perhaps valid argument text.
 - msgspec refuses halves of surrogate pairs, which JSON allows; those events take json's decoder instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

import msgspec

from trigate._core import JSONTracker
from trigate.errors import DecodeError, LimitError, StructureError
from trigate.framing import Frame
from trigate.response import ErrorInfo

__all__ = [
    "REFUSED",
    "as_json_text",
    "attempt",
    "count_of",
    "decode",
    "decoder",
    "error_info",
    "fields_of",
    "is_error",
    "is_given",
    "members_of",
    "says_error",
    "too_deep",
    "usual",
]

_T = TypeVar("_T", bound=msgspec.Struct)


class _Decoders(dict[type, msgspec.json.Decoder[Any]]):
    """One decoder for each shape: making one takes longer than using it."""

    def __missing__(self, shape: type) -> msgspec.json.Decoder[Any]:
        made = self[shape] = msgspec.json.Decoder(shape)
        return made


_decoders = _Decoders()


def decoder(shape: type[_T]) -> Callable[[bytes], _T]:
    """Decodes this shape and raises what msgspec raises (REFUSED): for those who read very many of them."""
    decode_one: Callable[[bytes], _T] = _decoders[shape].decode
    return decode_one


_decode_value = msgspec.json.Decoder().decode
_decode_string = msgspec.json.Decoder(str).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
#: What msgspec raises for a text that another decoder may still take, or tells more about.
REFUSED = (msgspec.MsgspecError, RecursionError)


def attempt(data: bytes | msgspec.Raw, shape: type[_T]) -> _T | None:
    """As `decode`, and None for what has not this shape: for shapes that the usual event has, but need not have.

    Whoever gets None decodes step by step, with shapes that name what is wrong.
    """
    try:
        made: _T = _decoders[shape].decode(data)
    except REFUSED:
        return None
    return made


def decode(data: bytes | msgspec.Raw, shape: type[_T], event: Frame) -> _T:
    """`data` (the event's, or a part of it) as `shape`; members that it does not name are ignored.

    DecodeError (invalid_json), StructureError (wrong_shape) and LimitError (depth_too_large) carry offsets.
    """
    try:
        made: _T = _decoders[shape].decode(data)
    except msgspec.ValidationError as error:
        raise _wrong_shape(str(error), event) from None
    except msgspec.DecodeError as error:
        return _decode_slowly(bytes(data), shape, event, str(error))
    except RecursionError:
        raise too_deep(event) from None
    return made


def usual(head: msgspec.Struct, data: bytes, shape: type[_T]) -> _T | None:
    """The event in its usual form, in which it may have been decoded already; None if it has another."""
    return head if isinstance(head, shape) else attempt(data, shape)


def _wrong_shape(what: str, event: Frame) -> StructureError:
    return StructureError(
        f"the event at byte {event.start} has an unexpected member: {what}",
        code="wrong_shape",
        offset=event.start,
    )


def _missing(event: Frame) -> StructureError:
    return StructureError(
        f"the event at byte {event.start} lacks the member that it is about",
        code="missing_member",
        offset=event.start,
    )


def too_deep(event: Frame) -> LimitError:
    """What a RecursionError over an event's JSON becomes."""
    return LimitError(
        f"the event at byte {event.start} is nested deeper than the interpreter can decode",
        code="depth_too_large",
        limit="max_depth",
        offset=event.start,
    )


def _decode_slowly(data: bytes, shape: type[_T], event: Frame, why: str) -> _T:
    if not data:
        raise _missing(event)
    tracker = JSONTracker(max_depth=2**31)
    tracker.feed(data)
    if tracker.finish() != "closed":
        at = len(data) if tracker.error_at is None else tracker.error_at
        raise DecodeError(
            f"the data of the event at byte {event.start} is not JSON from its byte {at} on",
            code="invalid_json",
            offset=_offset(at, event),
        )
    try:
        return _build(data.decode(), shape)
    except msgspec.ValidationError as error:
        raise _wrong_shape(str(error), event) from None
    except RecursionError:
        raise too_deep(event) from None
    except ValueError:
        raise _wrong_shape(why, event) from None


def _offset(at: int, event: Frame) -> int | None:
    """Where byte `at` of the event's stripped data stands; the event itself, if its data came in lines."""
    whole = event.data_bytes
    at += len(whole) - len(whole.lstrip())
    if event.data_start is None or b"\n" in whole[:at]:
        return event.start
    return event.data_start + at


def _build(text: str, shape: type[_T]) -> _T:
    """What msgspec would make of a valid JSON text, halves of surrogate pairs included."""
    spans = _member_spans(text)
    plain: dict[str, Any] = {}
    raw: dict[str, Any] = {}
    for name, hint in get_type_hints(shape).items():
        span = spans.get(name)
        if span is None:
            continue
        if hint is msgspec.Raw:
            raw[name] = msgspec.Raw(span.encode())
        elif hint == list[msgspec.Raw] | None and span != "null":
            raw[name] = [msgspec.Raw(element.encode()) for element in _element_spans(span)]
        else:
            plain[name] = json.loads(span)
    made = msgspec.convert(plain, shape)
    for name, value in raw.items():
        setattr(made, name, value)
    return made


# Only for where a value ends: numbers are not converted, for a huge one would be refused.
_READER = json.JSONDecoder(parse_int=str, parse_float=str)
_WHITE = re.compile(r"[ \t\n\r]*")


def _skip(text: str, position: int) -> int:
    match = _WHITE.match(text, position)
    return match.end() if match else position


def _member_spans(text: str) -> dict[str, str]:
    """The members of a valid JSON object, each value as the text that it is."""
    position = _skip(text, 0)
    if text[position] != "{":
        raise msgspec.ValidationError("Expected `object`")
    spans: dict[str, str] = {}
    position = _skip(text, position + 1)
    while text[position] != "}":
        name, position = _READER.raw_decode(text, position)
        start = _skip(text, _skip(text, position) + 1)
        _, end = _READER.raw_decode(text, start)
        spans[name] = text[start:end]
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return spans


def _element_spans(text: str) -> list[str]:
    """The elements of a valid JSON array, likewise."""
    if text[0] != "[":
        raise msgspec.ValidationError("Expected `array`")
    spans: list[str] = []
    position = _skip(text, 1)
    while text[position] != "]":
        _, end = _READER.raw_decode(text, position)
        spans.append(text[position:end])
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return spans


def members_of(raw: bytes, event: Frame) -> dict[str, bytes]:
    """The members of a JSON value that `decode` accepted, each as the bytes that came; it must be an object."""
    if not raw:
        raise _missing(event)
    try:
        return {name: bytes(value) for name, value in _decode_members(raw).items()}
    except REFUSED:
        return _members_slowly(raw, event)


def _members_slowly(raw: bytes, event: Frame) -> dict[str, bytes]:
    try:
        return {name: span.encode() for name, span in _member_spans(raw.decode()).items()}
    except msgspec.ValidationError as error:
        raise _wrong_shape(str(error), event) from None
    except RecursionError:
        raise too_deep(event) from None


def fields_of(raw: bytes, event: Frame) -> Any:
    """A part of an event as plain Python values, halves of surrogate pairs included."""
    if not raw:
        return None
    try:
        return _decode_value(raw)
    except REFUSED:
        return _fields_slowly(raw, event)


def _fields_slowly(raw: bytes, event: Frame) -> Any:
    try:
        return json.loads(raw)
    except RecursionError:
        raise too_deep(event) from None
    except ValueError as error:
        raise _wrong_shape(str(error), event) from None


def is_given(raw: msgspec.Raw) -> bool:
    """Whether a member is there and is not null."""
    return len(raw) > 4 or (len(raw) > 0 and bytes(raw) != b"null")


def count_of(source: Any, name: str) -> int | None:
    """This member if it is an integer; None if it is not, or if `source` is no object."""
    value = source.get(name) if isinstance(source, dict) else None
    return value if type(value) is int else None


def as_json_text(raw: msgspec.Raw | str | None) -> tuple[str | None, bool]:
    """Arguments as they came: (text, True) for a JSON string, (None, True) for null or absent, and
    (the JSON text of the value, False) where an object was sent instead of a string."""
    if raw is None or isinstance(raw, str):
        return raw, True
    text = bytes(raw)
    if not text or text == b"null":
        return None, True
    if text[:1] != b'"':
        return text.decode(), False
    try:
        return _decode_string(text), True
    except REFUSED:
        return json.loads(text), True


def is_error(body: dict[str, Any]) -> bool:
    """Whether a body tells of an error, in one of the shapes in which servers do."""
    says_error = body.get("error") or body.get("detail") or body.get("type") == "error"
    return bool(says_error) or isinstance(body.get("message"), str)


def says_error(kind: str, error: Any, data: bytes, event: Frame) -> bool:
    """Whether an event tells of a failure: by its type, by an `error` beside whatever type it has, and without
    a type by any shape in which servers do. What such an event means must not depend on its name."""
    if error or kind.endswith("error"):
        return True
    value = None if kind else fields_of(data, event)
    return isinstance(value, dict) and is_error(value)


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
