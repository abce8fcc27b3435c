"""The deltas of Chat Completions, as the core may take them: docs/protocols/openai-chat.md.

Whatever says more than one piece (a finish, usage, a name, reasoning under two names) is in no shape.
"""

from __future__ import annotations

from trigate.protocols.shapes import EMPTY, FIXED, IGNORED, TEXT, Place, shapes

__all__ = ["SHAPES"]

_CHUNK: dict[str, Place] = {
    "id": FIXED,
    "object": FIXED,
    "created": IGNORED,
    "model": FIXED,
    "system_fingerprint": FIXED,
    "service_tier": FIXED,
    "provider": FIXED,
    "usage": EMPTY,
    "obfuscation": IGNORED,
    "stream_options": FIXED,
}
_CHOICE: dict[str, Place] = {
    "index": FIXED,
    "finish_reason": EMPTY,
    "native_finish_reason": EMPTY,
    "logprobs": EMPTY,
    "stop_reason": EMPTY,
    "matched_stop": EMPTY,
    "token_ids": EMPTY,
    "seed": EMPTY,
}
_DELTA: dict[str, Place] = {
    "role": FIXED,
    "content": EMPTY,
    "refusal": EMPTY,
    "reasoning_content": EMPTY,
    "reasoning": EMPTY,
    "reasoning_details": EMPTY,
    "tool_calls": EMPTY,
    "function_call": EMPTY,
    "channel": FIXED,
    "token_id": IGNORED,
}
_FRAGMENT: dict[str, Place] = {"index": FIXED, "id": FIXED, "type": FIXED}


def _chunk(**piece: Place) -> dict[str, Place]:
    # Beside a delta, Together repeats its content as `text`.
    return {**_CHUNK, "choices": [{**_CHOICE, "text": IGNORED, "delta": {**_DELTA, **piece}}]}


SHAPES = shapes(
    _chunk(content=TEXT),
    _chunk(reasoning_content=TEXT),
    _chunk(reasoning=TEXT),
    _chunk(refusal=TEXT),
    _chunk(tool_calls=[{**_FRAGMENT, "function": {"name": EMPTY, "arguments": TEXT}}]),
    _chunk(tool_calls=[{**_FRAGMENT, "custom": {"name": EMPTY, "input": TEXT}}]),
    {**_CHUNK, "choices": [{**_CHOICE, "text": TEXT}]},
)
