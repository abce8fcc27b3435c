"""What makes two calls the same call: the key, and the digest of what is asked.

Rules
 - The key says which call: scope (the conversation or job), response, call, tool. It comes from the protocol,
   so a stream that is read again gives the same keys.
 - The digest says what is asked: SHA-256 of the arguments in their one spelling (trigate.ledger.canonical).
 - Nothing is invented: a response without an id needs one from the caller.
"""

from __future__ import annotations

import hashlib
import re

import msgspec

from trigate.calls import ReleasedCall
from trigate.ledger.canonical import canonical
from trigate.response import Response

__all__ = ["Key", "digest_of", "key_of"]

_MOST_SCOPE = 200
# What a database does not keep in a text, and the sign that escapes it.
_UNKEPT = re.compile("[\\\\\x00\ud800-\udfff]")


class Key(msgspec.Struct, frozen=True, order=True):
    """Which call: the same key is the same call, however often its stream is read.

    scope     the conversation, job or user that the caller chose; at most 200 characters
    response  the response's id
    call      the call's id; "#0", "#1" ... where the wire gave none
    tool      the tool's name

    ValueError for an empty part. `id` is the same as 64 hexadecimal digits: what a ledger stores it by.
    """

    scope: str
    response: str
    call: str
    tool: str

    def __post_init__(self) -> None:
        for name in ("scope", "response", "call", "tool"):
            part = getattr(self, name)
            if not isinstance(part, str):
                raise TypeError(f"{name} must be a str, not {type(part).__name__}")
            if not part:
                raise ValueError(f"{name} must not be empty")
        if len(self.scope) > _MOST_SCOPE:
            raise ValueError(f"scope must have at most {_MOST_SCOPE} characters, not {len(self.scope)}")

    @property
    def id(self) -> str:
        parts = (self.scope, self.response, self.call, self.tool)
        return hashlib.sha256("\0".join(map(kept, parts)).encode("utf-8")).hexdigest()


def kept(text: str) -> str:
    """The text as every database keeps it: NUL and halves of surrogate pairs as \\uXXXX, a backslash doubled."""
    return _UNKEPT.sub(_keep_one, text)


def _keep_one(match: re.Match[str]) -> str:
    letter = match.group()
    return "\\\\" if letter == "\\" else f"\\u{ord(letter):04x}"


def unkept(text: str) -> str:
    """The text that `kept` was given."""
    if "\\" not in text:
        return text
    return re.sub(
        r"\\(?:\\|u([0-9a-f]{4}))", lambda m: chr(int(m.group(1), 16)) if m.group(1) else "\\", text
    )


def key_of(call: ReleasedCall, response: Response, scope: str, *, response_id: str | None = None) -> Key:
    """The key of a released call.

    response_id: for a protocol that gives responses no id (Ollama): a name that the caller chose and stored before
    the request, such as the number of the turn. ValueError if there is neither, or the call is not of this response;
    TypeError for a call that was not released.
    """
    if not isinstance(call, ReleasedCall):
        raise TypeError(f"only a ReleasedCall has a key, not a {type(call).__name__}: it may not run")
    name = response_id or response.id
    if not name:
        raise ValueError(
            "this response has no id: give response_id, a name that you stored before the request was made"
        )
    position = next((at for at, each in enumerate(response.calls) if each is call), None)
    if position is None:
        position = next((at for at, each in enumerate(response.calls) if each == call), None)
    if position is None:
        raise ValueError(f"{call!r} is no call of this response")
    # A wire's own "#0" must not be taken for the first call without an id.
    place = f"#{position}" if not call.call_id else call.call_id
    return Key(scope, name, f"#{place}" if (call.call_id or "").startswith("#") else place, call.name)


def digest_of(call: ReleasedCall) -> str:
    """SHA-256 of the canonical arguments, as 64 hexadecimal digits.

    Two calls have the same digest only if a tool gets equal values from both. A custom call's text, and arguments
    that only a leniency let through, are taken as they are.
    """
    text = call.arguments
    if call.kind != "custom":
        try:
            return hashlib.sha256(canonical(text if text.strip(" \t\n\r") else "{}")).hexdigest()
        except ValueError:  # a leniency let it through: no two spellings of it are taken for one
            pass
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
