"""What the gateway is told from outside: its upstreams, and what it does with a stream.

Rule: read once, from the environment, at the start; a wrong value stops the start and says what would be right.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

__all__ = ["Mode", "Settings"]

Mode: TypeAlias = Literal["plain", "json", "tap", "gate"]


@dataclass(frozen=True)
class Settings:
    """
    openai, anthropic   base URLs of the upstreams, without the API's /v1
    mode                plain: bytes through, nothing else. json: the same, and each event's data read by json.loads
                        (what many gateways do; here to compare). tap: watched by a Tap. gate: watched, and calls held
                        by a CallGate
    denied              names of tools whose calls are refused (mode gate); a * stands for anything
    idle_timeout        seconds without a byte from the upstream after which it is given up
    max_request_bytes   a longer request is answered with 413: it is held while it comes in
    """

    openai: str = "https://api.openai.com"
    anthropic: str = "https://api.anthropic.com"
    mode: Mode = "gate"
    denied: tuple[str, ...] = ()
    idle_timeout: float = 120.0
    max_request_bytes: int = 64 * 1024 * 1024

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """From GATEWAY_ and: OPENAI_URL, ANTHROPIC_URL, MODE, DENIED (with commas), IDLE_TIMEOUT, MAX_REQUEST_BYTES."""
        mode = environment.get("GATEWAY_MODE", cls.mode)
        if mode not in get_args(Mode):
            raise ValueError(f"GATEWAY_MODE must be one of {', '.join(get_args(Mode))}, not {mode!r}")
        names = (name.strip() for name in environment.get("GATEWAY_DENIED", "").split(","))
        return cls(
            openai=_upstream(environment, "GATEWAY_OPENAI_URL", cls.openai),
            anthropic=_upstream(environment, "GATEWAY_ANTHROPIC_URL", cls.anthropic),
            mode=mode,
            denied=tuple(name for name in names if name),
            idle_timeout=_number(environment, "GATEWAY_IDLE_TIMEOUT", cls.idle_timeout),
            max_request_bytes=int(_number(environment, "GATEWAY_MAX_REQUEST_BYTES", cls.max_request_bytes)),
        )


def _upstream(environment: Mapping[str, str], name: str, default: str) -> str:
    url = environment.get(name, default).rstrip("/")
    if not url.startswith(("http://", "https://")) or url.endswith("/v1"):
        raise ValueError(f"{name} must be an http:// or https:// URL that ends before /v1")
    return url


def _number(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name, str(default))
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise ValueError(f"{name} must be a number above 0, not {text!r}")
    return number
