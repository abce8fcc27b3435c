"""The slow, literal readers: one plain interpreter per protocol, against which trigate is checked.

Rules
 - Nothing here is imported by trigate, and nothing here imports trigate: the standard library's json and zlib do.
 - A reader takes the whole input at once. It knows no chunks, no states between them, no fast path.
 - What it says about release is exact; what it says about oddities is as little as will do.
"""

from __future__ import annotations

from collections.abc import Callable

from model import anthropic, bedrock, chat, cohere, gemini, interactions, invoke, ollama, responses
from model.common import Outcome, Read

__all__ = ["READERS", "Outcome", "Read"]

READERS: dict[str, Callable[[bytes], Outcome]] = {
    "openai-responses": responses.read,
    "openai-chat": chat.read,
    "anthropic-messages": anthropic.read,
    "bedrock-invoke": invoke.read,
    "gemini": gemini.read,
    "gemini-interactions": interactions.read,
    "ollama-chat": ollama.read,
    "bedrock-converse": bedrock.read,
    "cohere-chat": cohere.read,
}
