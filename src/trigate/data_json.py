"""An event's data as JSON, with errors that name the byte in the stream."""

from __future__ import annotations

import json
from typing import Any

from trigate.errors import DecodeError, LimitError

__all__ = ["load_json"]


def load_json(data: bytes, event: str, offset: int | None) -> Any:
    """The value of an event's data; offset is where the data began in the stream, None for an event made by hand.

    DecodeError: invalid_utf8, or invalid_json (also for an integer of more digits than Python converts).
    LimitError (depth_too_large): nested deeper than the interpreter can decode. Their offsets are exact as far as
    the data is one line of well-formed UTF-8.
    """
    start = offset or 0
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        what, code, at = f"not UTF-8: {error}", "invalid_utf8", error.start
    except json.JSONDecodeError as error:
        what, code, at = f"not JSON: {error}", "invalid_json", len(error.doc[: error.pos].encode("utf-8"))
    except RecursionError:
        raise LimitError(
            f"the data of this {event!r} event is nested deeper than the interpreter can decode",
            code="depth_too_large",
            limit="max_depth",
            offset=offset,
        ) from None
    except ValueError as error:
        what, code, at = f"JSON that Python cannot hold: {error}", "invalid_json", 0
    raise DecodeError(f"the data of this {event!r} event is {what}", code=code, offset=start + at)
