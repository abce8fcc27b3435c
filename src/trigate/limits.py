"""Every bound in one place, each with its default and its reason.

A value of n is accepted, n + 1 is an error that names the limit. The first six are enforced by the C core
(`ext/core/tg_limits.h` holds the same defaults; a test compares them), the others by the layer above.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["DEFAULTS", "Limits"]

_MIB = 1024 * 1024
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on what one stream may make the parser hold. All are positive integers.

    max_event_bytes      data and type of one event. A final event with images passes 1 MiB, few reach 20.
    max_line_bytes       one line without its end. None: max_event_bytes + 1 KiB, room for the field name.
    max_id_bytes         an SSE id. It goes back in a header, and servers take 8 to 64 KiB of headers.
    max_retry_digits     digits of an SSE retry field. 2^63 ms has 19; more than 64 is no time.
    max_depth            nesting of arguments. People write 10 levels, generators 100.
    max_header_bytes     all headers of one event-stream message. botocore refuses more; real ones have 100 bytes.
    max_arguments_bytes  one call's argument text, as UTF-8. A call that writes a file holds the whole file.
    max_name_bytes       one call's name, as UTF-8. Providers allow 64 to 128 characters.
    max_calls            tool calls in one response. Agents ask for tens; hundreds are seen in batch jobs.
    max_response_bytes   all that a response keeps: text, reasoning, arguments and its items.
    max_anomalies        anomalies kept; the rest are counted in one last entry.
    """

    max_event_bytes: int = 32 * _MIB
    max_line_bytes: int | None = None
    max_id_bytes: int = 64 * 1024
    max_retry_digits: int = 64
    max_depth: int = 1024
    max_header_bytes: int = 128 * 1024
    max_arguments_bytes: int = 16 * _MIB
    max_name_bytes: int = 64 * 1024
    max_calls: int = 1024
    max_response_bytes: int = 256 * _MIB
    max_anomalies: int = 1000

    def __post_init__(self) -> None:
        for name in _NAMES:
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= _LARGEST:
                self._check(name, value)

    def _check(self, name: str, value: object) -> None:
        if name == "max_line_bytes" and value is None:
            value = min(self.max_event_bytes + 1024, _LARGEST)
            object.__setattr__(self, "max_line_bytes", value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} must be an integer, not {type(value).__name__}")
        if not 1 <= value <= _LARGEST:
            raise ValueError(f"{name} must be between 1 and 2**63 - 1, not {value}")


_NAMES = tuple(field.name for field in fields(Limits))
#: Those of a parser that was asked for none: made and checked once.
DEFAULTS = Limits()
