"""Which protocols there are, and what each module must offer."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols.anthropic_messages import AnthropicMessages
from trigate.protocols.bedrock_converse import BedrockConverse
from trigate.protocols.bedrock_invoke import BedrockInvoke
from trigate.protocols.cohere_chat import CohereChat
from trigate.protocols.gemini import Gemini
from trigate.protocols.gemini_interactions import GeminiInteractions
from trigate.protocols.ollama_chat import OllamaChat
from trigate.protocols.openai_chat import OpenAIChat
from trigate.protocols.openai_responses import OpenAIResponses
from trigate.protocols.profile import Profile
from trigate.response import Response
from trigate.turn import Turn

__all__ = ["PROTOCOLS", "Interpreter"]


class Interpreter(Protocol):
    """What a protocol module offers: it gets the events of one stream, in order, and tells a Turn what happened.

    name: the public name. framings: how its events are framed, the usual one first.
    requires_call_id: whether a call without an id can be answered at all. profile: what completion means.
    shapes: its deltas, as far as they need not be read one by one (trigate.protocols.shapes); None for none.
    """

    name: ClassVar[str]
    framings: ClassVar[tuple[Framing, ...]]
    requires_call_id: ClassVar[bool]
    profile: ClassVar[Profile]
    shapes: ClassVar[Shapes | None]

    def __init__(self, turn: Turn) -> None: ...

    def event(self, event: Frame) -> None:
        """Takes one event, also after the end of the response. TrigateError: the stream is broken there."""

    def finish(self, left: Leftover) -> None:
        """The input is over and the response has not ended: ends it if the protocol's end is the end of input.

        left: what the last event lacked.
        """

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        """Whether a stream that begins with this event (its JSON: value) speaks this protocol."""

    @staticmethod
    def to_message(response: Response) -> Any:
        """The assistant's turn, as the provider wants it back."""

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        """The result of one call, as the provider wants it."""


#: By public name, in the order in which `auto` asks them.
PROTOCOLS: dict[str, type[Interpreter]] = {
    OpenAIResponses.name: OpenAIResponses,
    AnthropicMessages.name: AnthropicMessages,
    BedrockInvoke.name: BedrockInvoke,
    BedrockConverse.name: BedrockConverse,
    CohereChat.name: CohereChat,
    OpenAIChat.name: OpenAIChat,
    GeminiInteractions.name: GeminiInteractions,
    Gemini.name: Gemini,
    OllamaChat.name: OllamaChat,
}
