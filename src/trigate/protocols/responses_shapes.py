"""The deltas of Responses, as the core may take them: docs/protocols/openai-responses.md."""

from __future__ import annotations

from trigate.protocols.shapes import FIXED, IGNORED, SEQUENCE, TEXT, Place, shapes

__all__ = ["SHAPES"]


def _delta(kind: str, **members: Place) -> dict[str, Place]:
    return {
        "type": f"response.{kind}.delta",
        "sequence_number": SEQUENCE,
        "item_id": FIXED,
        "output_index": FIXED,
        "delta": TEXT,
        "obfuscation": IGNORED,
        **members,
    }


SHAPES = shapes(
    _delta("output_text", content_index=FIXED, logprobs=FIXED),
    _delta("refusal", content_index=FIXED),
    _delta("reasoning_text", content_index=FIXED),
    _delta("reasoning_summary_text", summary_index=FIXED),
    _delta("function_call_arguments"),
    _delta("custom_tool_call_input"),
)
