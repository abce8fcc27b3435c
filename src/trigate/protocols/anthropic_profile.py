"""What completion means in Anthropic Messages."""

from __future__ import annotations

from trigate.protocols.profile import Profile

__all__ = ["PROFILE"]

PROFILE = Profile(
    closes_arguments=("content_block_stop",),
    completes_call=("the next content_block_start", "message_delta with stop_reason tool_use"),
    asks_to_run=("tool_use",),
    ends_well=("end_turn", "stop_sequence"),
    ends_otherwise={
        "max_tokens": "incomplete",
        "model_context_window_exceeded": "incomplete",
        "pause_turn": "incomplete",
        "compaction": "incomplete",
        "refusal": "incomplete",
    },
    unknown_end="failed",
    terminal=("message_stop", "error"),
    noise=("ping", "[DONE]"),
)
