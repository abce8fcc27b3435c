"""Is a body an event stream? What its Content-Type says, read as the Fetch standard reads it.

Rules
 - Of several values the last that is a media type counts: a proxy that adds its own comes later.
 - Type and subtype are compared without regard to case, and whole: "text/event-stream-x" is another type.
 - Parameters do not count: an event stream is UTF-8 whatever its charset says.
"""

from __future__ import annotations

import re

__all__ = ["EVENT_STREAM", "is_event_stream", "mismatch"]

EVENT_STREAM = "text/event-stream"

#: The values of a header that a comma parts, unless it stands in a quoted string.
_VALUES = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*"?)+')
_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_MEDIA_TYPE = re.compile(rf"[ \t]*({_TOKEN}/{_TOKEN})[ \t]*(?:;|$)")


def is_event_stream(content_type: str) -> bool:
    """Whether this Content-Type header ("" where there is none) names an event stream."""
    found = [
        match.group(1).lower() for match in map(_MEDIA_TYPE.match, _VALUES.findall(content_type)) if match
    ]
    named = [media_type for media_type in found if media_type != "*/*"]
    return bool(named) and named[-1] == EVENT_STREAM


def mismatch(content_type: str) -> str:
    """What an error says of a Content-Type that names no event stream."""
    return f"expected a response of type {EVENT_STREAM!r}, its Content-Type is {content_type!r}"
