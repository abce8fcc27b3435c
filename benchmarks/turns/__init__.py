"""Whole model responses made from a seed, which know what they come to.

Rules
 - The same seed gives the same bytes, on every machine.
 - Each is valid for the provider's official SDK, and has the members, the order and the padding of real ones.
 - A block is one event: to feed one block at a time is what a live model does to a client.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from turns import chat, gemini, messages, responses
from turns.result import Call, Result
from turns.script import Script, spoken_call, words, write_file

__all__ = ["PROTOCOLS", "Call", "Result", "Turn", "drip_turn", "long_turn", "short_turns", "text_turn"]

_WRITERS: dict[str, Callable[[Script, random.Random], list[bytes]]] = {
    "openai-responses": responses.write,
    "openai-chat": chat.write,
    "anthropic-messages": messages.write,
    "gemini": gemini.write,
}
PROTOCOLS = tuple(_WRITERS)
#: Chat Completions as OpenAI serves it says nothing of what the model thought.
_SILENT = ("openai-chat",)
_WHOLE_CALLS = ("gemini",)
SEED = 20260801


@dataclass(frozen=True)
class Turn:
    """blocks: the bytes of one event each; deltas: how many pieces of text and arguments they bring.

    arguments: how many bytes the texts of all arguments have.
    """

    name: str
    protocol: str
    blocks: tuple[bytes, ...]
    expected: Result
    deltas: int
    arguments: int

    @property
    def data(self) -> bytes:
        return b"".join(self.blocks)

    def chunks(self, size: int | None) -> list[bytes]:
        """Pieces of `size` bytes; None: one event each."""
        if size is None:
            return list(self.blocks)
        data = self.data
        return [data[start : start + size] for start in range(0, len(data), size)]


def long_turn(protocol: str, deltas: int = 20_000, seed: int = SEED) -> Turn:
    """A tenth of it thoughts, half of it text, the rest two calls that write files.

    Where calls come whole, the text takes the share of their pieces.
    """
    rng = _rng(seed, protocol, "long")
    thought = 0 if protocol in _SILENT else deltas // 10
    said = deltas // 2
    written = deltas - thought - said
    if protocol in _WHOLE_CALLS:
        said, written = said + written - 2, 0
    values = [write_file(rng, max(written * 2 - 100, 200)) for _ in range(2)]
    calls = [spoken_call(rng, "write_file", value) for value in values]
    return _turn(protocol, Script("long", words(rng, thought), words(rng, said), tuple(calls)), rng)


def short_turns(protocol: str, seed: int = SEED) -> list[Turn]:
    """About 50 deltas each: one call, three calls at once, text alone."""
    rng = _rng(seed, protocol, "short")
    places = ("Hangzhou", "São Paulo", "北京")
    weather = [{"city": place, "days": 3 + day, "unit": "celsius"} for day, place in enumerate(places)]
    calls = tuple(spoken_call(rng, "get_weather", value) for value in weather)
    thoughts = () if protocol in _SILENT else words(rng, 12)
    scripts = (
        Script("call", thoughts, words(rng, 20), (spoken_call(rng, "write_file", write_file(rng, 20)),)),
        Script("calls", (), words(rng, 10), calls),
        Script("text", (), words(rng, 50), ()),
    )
    return [_turn(protocol, script, rng) for script in scripts]


def text_turn(protocol: str, deltas: int, seed: int = SEED) -> Turn:
    """Text alone, and a few pieces more than asked for."""
    rng = _rng(seed, protocol, "text")
    return _turn(protocol, Script("text", (), words(rng, deltas + 8), ()), rng)


def drip_turn(protocol: str, size: int, piece: int = 16, seed: int = SEED) -> Turn:
    """One call whose arguments have about `size` bytes, in pieces of `piece` bytes."""
    rng = _rng(seed, protocol, f"drip {size}")
    call = spoken_call(rng, "write_file", write_file(rng, size - 90), piece=piece)
    return _turn(protocol, Script(f"drip {size}", (), (), (call,)), rng)


def _rng(seed: int, protocol: str, kind: str) -> random.Random:
    return random.Random(f"{seed} {protocol} {kind}")


def _turn(protocol: str, script: Script, rng: random.Random) -> Turn:
    blocks = _WRITERS[protocol](script, rng)
    calls = tuple((call.call_id, call.name, call.value) for call in script.calls)
    reasoning = "".join(script.reasoning)
    expected = Result("".join(script.text), calls, reasoning, "completed")
    arguments = sum(len(call.arguments.encode()) for call in script.calls)
    return Turn(script.name, protocol, tuple(blocks), expected, _deltas(protocol, script), arguments)


def _deltas(protocol: str, script: Script) -> int:
    if protocol in _WHOLE_CALLS:
        return len(script.reasoning) + len(script.text) + len(script.calls)
    return script.deltas
