"""All random walks by protocol, Ollama's and Gemini's among them, and mutations of them (see prediction_walker)."""

from __future__ import annotations

import random
from typing import Any

from prediction_blocks import Anthropic, Cohere, Converse, Interactions
from prediction_openai import Chat, Responses
from prediction_walker import Lane, Step, Walker, given
from prediction_wire import Spelling

__all__ = ["WALKERS", "cut", "mutated", "walk"]


class Ollama(Walker):
    """A lane is a text or the thinking, of chat or of generate."""

    def say(self, **members: Any) -> None:
        second = self.chance.randint(0, 99)
        told: Step = {"model": "m", "created_at": f"2026-01-01T00:00:{second:02}Z", "done": False} | members
        if self.is_wild():
            told |= self.pick(
                {"model": "n"}, {"created_at": 5}, {"created_at": ""}, {"model": None}, {"done": ...}
            )
        if self.is_wild():
            told |= self.pick(
                {"x": 1}, {"error": None}, {"done_reason": "stop"}, {"created_at": ...}, {"model": ...}
            )
        self.frames.append(self.spelling.line(given(told)))

    def call(self) -> Step:
        function: Step = {"name": self.pick("f", "g"), "arguments": {"a": self.pick(1, 2)}}
        function |= self.pick({}, {"index": self.pick(0, 1)})
        return {"function": function, **self.pick({}, {"id": self.pick("a", "b")})}

    def start(self) -> None:
        style = self.pick({"role": "assistant"}, {}, {"tool_calls": None})
        self.lanes.append(Lane(self.pick("content", "content", "thinking", "response", "thought"), 0, style))

    def delta(self, lane: Lane) -> None:
        if lane.kind == "response":
            self.say(response=self.text())
        elif lane.kind == "thought":
            self.say(response="", thinking=self.text())
        else:
            self.say(message={"content": "", **lane.style, lane.kind: self.text()})

    def mild(self) -> None:
        self.one_of(
            lambda: self.say(message={"content": ""}),
            lambda: self.say(message={"content": self.text(), "thinking": self.text()}),
            lambda: self.frames.append(b"\n"),
            lambda: self.say(message={"content": "", "tool_calls": [self.call()]}),
        )

    def wild(self) -> None:
        self.one_of(
            lambda: self.say(message={"content": self.text()}, response=self.text()),
            lambda: self.say(message={"content": self.text(), "images": ["x"]}),
            lambda: self.say(message={"content": self.text(), "tool_calls": [self.call(), self.call()]}),
            lambda: self.say(status="ok", done=...),
            lambda: self.say(error="busy"),
            lambda: self.say(message={"content": self.text()}, done=True, done_reason="stop", eval_count=3),
        )

    def end(self) -> None:
        self.say(message={"content": ""}, done=True, done_reason=self.pick("stop", "length"), eval_count=3)


class Gemini(Walker):
    """A lane is the text or the thoughts of one candidate; as events, or as the elements of an array."""

    def begin(self) -> None:
        self.is_array = self.chance.random() < 0.3
        self.count = 0
        self.members: Step = self.pick({}, {"modelVersion": "g"}, {"modelVersion": "g", "responseId": "r1"})
        self.has_usage = self.chance.random() < 0.6

    def say(self, *candidates: Step, **more: Any) -> None:
        self.count += self.pick(0, 1, 7)
        told: Step = {"candidates": list(candidates)}
        if self.has_usage != self.is_wild():
            told["usageMetadata"] = {"promptTokenCount": 5, "candidatesTokenCount": self.count}
            if self.is_wild():
                told["usageMetadata"] |= self.pick(
                    {"x": 1}, {"thoughtsTokenCount": 1}, {"promptTokenCount": "5"}
                )
        told |= self.members
        if self.is_wild():
            told |= self.pick({"responseId": "r2"}, {"responseId": ...}, {"x": 1}, {"modelVersion": "h"})
        told |= more
        if self.is_array:
            comma = b"[" if not self.frames else b",\n"
            self.frames.append(comma + self.spelling.line(given(told)))
        else:
            self.frames.append(self.spelling.sse(given(told)))

    def send(self, part: Step | None, index: int = 0, **members: Any) -> None:
        content = {} if part is None else {"content": {"parts": [part], "role": "model"}}
        self.say({**content, "index": index, **members})

    def start(self) -> None:
        self.lanes.append(Lane(self.pick("text", "text", "thought"), self.pick(0, 0, 0, 1)))

    def delta(self, lane: Lane) -> None:
        thought = {"thought": True} if lane.kind == "thought" else {}
        if self.is_wild():
            thought = self.pick({"thought": False}, {"thoughtSignature": "s"}, {"x": 1}, {"inlineData": {}})
        self.send({"text": self.text(), **thought}, lane.place)

    def mild(self) -> None:
        call = {"functionCall": {"name": self.pick("f", "g"), "args": {"a": self.pick(1, 2)}}}
        self.one_of(
            lambda: self.send(call),
            lambda: self.send({"thoughtSignature": "s"}),
            lambda: self.send(None),
            self.say,
        )

    def wild(self) -> None:
        lane = self.pick(*self.lanes)
        parts = {"content": {"parts": [{"text": self.text()}, {"text": self.text()}]}, "index": 0}
        word = self.pick("STOP", "MAX_TOKENS", "ODD")
        self.one_of(
            lambda: self.send({"text": self.text()}, lane.place, finishReason=word),
            lambda: self.send(None, lane.place, finishReason=word),
            lambda: self.say(parts),
            lambda: self.say(parts, parts | {"index": 1}),
            lambda: self.send({"functionCall": {"name": "f", "willContinue": True}}),
            lambda: self.send({"functionCall": {}}),
            lambda: self.send({"text": self.text()}, lane.place, safetyRatings=[]),
            lambda: self.say(promptFeedback={"blockReason": "SAFETY"}),
            lambda: self.say(error={"message": "busy"}),
            lambda: self.frames.append(b'{"error": {"message": "busy"}}\n'),
        )

    def end(self) -> None:
        self.send({"text": "."}, finishReason=self.pick("STOP", "MAX_TOKENS"))
        if self.is_array:
            self.frames.append(b"]")


WALKERS: dict[str, type[Walker]] = {
    "gemini": Gemini,
    "openai-chat": Chat,
    "openai-responses": Responses,
    "anthropic-messages": Anthropic,
    "gemini-interactions": Interactions,
    "ollama-chat": Ollama,
    "bedrock-converse": Converse,
    "cohere-chat": Cohere,
}


def walk(protocol: str, chance: random.Random) -> list[bytes]:
    """The frames of one walk: tame or wild, easy or hard to read, in common or in odd spelling."""
    spelling = Spelling.of(chance, chance.choice((0.0, 0.0, 0.01, 0.05)))
    hardness = chance.choice((0.0, 0.05, 0.3))
    wildness = chance.choice((0.0, 0.01, 0.03, 0.15))
    return WALKERS[protocol](chance, spelling, hardness, wildness).walk(chance.randint(5, 80))


_INSERTED = (
    *(bytes([byte]) for byte in b' \n\r"\\{}[],:0a\x00\x80\xff'),
    b"\\u0041",
    b"\r\n",
    b"00",
    b"x" * 40,
)


def _struck(frame: bytes, chance: random.Random) -> bytes:
    """One frame with one place of it changed."""
    at = chance.randrange(len(frame))
    kind = chance.choice(("flip", "lose", "insert", "insert", "cut"))
    if kind == "flip":
        return frame[:at] + bytes([frame[at] ^ (1 << chance.randrange(8))]) + frame[at + 1 :]
    if kind == "cut":
        return frame[:at]
    return frame[:at] + (chance.choice(_INSERTED) + frame[at:] if kind == "insert" else frame[at + 1 :])


def mutated(frames: list[bytes], chance: random.Random, count: int) -> list[bytes]:
    """So many times a frame is lost, doubled, moved, or changed in one place."""
    frames = list(frames)
    for _ in range(count):
        at, other = chance.randrange(len(frames)), chance.randrange(len(frames))
        kind = chance.choice(("lose", "repeat", "swap", "strike", "strike", "strike"))
        if kind == "lose" and len(frames) > 1:
            del frames[at]
        elif kind == "repeat":
            frames.insert(other, frames[at])
        elif kind == "swap":
            frames[at], frames[other] = frames[other], frames[at]
        elif frames[at]:
            frames[at] = _struck(frames[at], chance)
    return frames


def cut(frames: list[bytes], chance: random.Random) -> list[bytes]:
    """The stream in chunks: whole, one frame each, of one size, or at random places."""
    data = b"".join(frames)
    kind = chance.choice(("whole", "whole", "frames", "frames", "size", "random", "random"))
    if kind == "whole":
        return [data]
    if kind == "frames":
        return frames
    if kind == "size":
        size = chance.choice((1, 7, 64, 1000))
        return [data[at : at + size] for at in range(0, len(data), size)]
    places = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randint(1, 30)))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
