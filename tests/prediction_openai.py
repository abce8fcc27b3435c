"""Random walks through Chat Completions and Responses (see prediction_walker)."""

from __future__ import annotations

from typing import Any

from prediction_walker import Lane, Step, Walker, given
from prediction_wire import Raw

__all__ = ["Chat", "Responses"]


class Chat(Walker):
    """A lane is a text of one choice, or a call with its index, or one that has none."""

    def begin(self) -> None:
        self.members: Step = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        self.members |= self.pick(
            {}, {}, {"usage": None}, {"created": ...}, {"id": ...}, {"system_fingerprint": "x"}
        )
        self.is_padded = self.chance.random() < 0.2
        self.choices = self.pick(1, 1, 1, 2)
        self.has_indices = self.chance.random() < 0.8
        self.send({"role": "assistant", "content": ""})

    def say(self, *choices: Step, **more: Any) -> None:
        members = self.members | more
        if self.is_wild():
            members |= self.pick(
                {"id": "c2"}, {"id": ""}, {"id": None}, {"model": "n"}, {"created": 0}, {"x": 1}
            )
        if self.is_padded:
            members["obfuscation"] = self.padding()
        self.frames.append(self.spelling.sse(given({**members, "choices": list(choices)})))

    def send(self, delta: Step, end: Any = None, choice: Any = 0, **members: Any) -> None:
        self.say(given({"index": choice, "delta": delta, "finish_reason": end, **members}))

    def start(self) -> None:
        choice = self.chance.randrange(self.choices)
        kind = self.pick(
            "content", "reasoning_content", "reasoning", "refusal", "legacy", *["call"] * 6, "custom"
        )
        if kind not in ("call", "custom"):
            style = self.pick({}, {}, {"role": "assistant"}, {"tool_calls": None}, {"channel": "x"})
            self.lanes.append(Lane(kind, choice, style))
            return
        index = self.free_index()
        call_id = f"id{index}" if not self.is_wild() else self.pick("id0", "id1", "", ...)
        style = self.pick({}, {}, {}, {"id": call_id}, {"type": "function"}, {"id": ""}, {"id": None})
        lane = Lane(kind, index, (style, choice, index if self.has_indices else self.pick(..., ..., index)))
        self.lanes.append(lane)
        name = "f" if not self.is_wild() else self.pick("g", "", ...)
        first = self.pick("", "", ..., "{}", "{", '{"a":1}')
        place = lane.style[2] if not self.is_wild() else self.pick(0, 1, ...)
        self.fragment(
            {"index": place, "id": call_id, "type": "function"}, choice, kind, name=name, text=first
        )

    def fragment(self, members: Step, choice: int, kind: str, *, text: Any, name: Any = ...) -> None:
        self.send({"tool_calls": [self.told(members, kind, text=text, name=name)]}, choice=choice)

    def told(self, members: Step, kind: str, *, text: Any, name: Any = ...) -> Step:
        member, body = ("input", "custom") if kind == "custom" else ("arguments", "function")
        if kind == "custom" and "type" in members:
            members = members | {"type": "custom"}
        return given(members | {body: given({"name": name, member: text})})

    def delta(self, lane: Lane) -> None:
        if lane.kind in ("call", "custom"):
            style, choice, index = lane.style
            if self.is_wild():
                index = self.pick(0, 1, ..., None)
            self.fragment(style | {"index": index}, choice, lane.kind, text=self.text())
        elif lane.kind == "legacy":
            self.say({"index": lane.place, "text": self.text(), "finish_reason": None})
        else:
            self.send({**lane.style, lane.kind: self.text()}, choice=lane.place)

    def mild(self) -> None:
        self.one_of(
            lambda: self.say(usage={"completion_tokens": 1}),
            lambda: self.send({}),
            lambda: self.send({"content": ""}),
            lambda: self.frames.append(b": ping\n\n"),
            lambda: self.frames.append(self.spelling.sse({"type": "ping"}, "ping")),
            lambda: self.send({"content": self.text(), "reasoning": self.text()}),
            lambda: self.send({"content": self.text()}, text=self.text()),
            lambda: self.send({"content": self.text()}, logprobs={"content": []}),
        )

    def wild(self) -> None:
        lane = self.pick(*self.lanes)
        piece = self.told({"index": self.pick(0, 1, ...)}, "call", text=self.text())
        named = self.told(
            given({"index": self.pick(0, 1, ...), "id": self.pick("id0", "id1", "x", ...)}), "call", text=""
        )
        word = self.pick("stop", "length", "tool_calls", "odd")
        self.one_of(
            lambda: self.send({"content": self.text()}, word),
            lambda: self.send({"reasoning_content": self.text()}, word),
            lambda: self.send({"tool_calls": [piece]}, word),
            lambda: self.send({}, word),
            lambda: self.send({"content": self.text(), "tool_calls": [piece]}),
            lambda: self.send({"tool_calls": [piece, piece]}),
            lambda: self.send({"tool_calls": [named, piece]}),
            lambda: self.send({"tool_calls": [named]}),
            lambda: self.send({"tool_calls": [piece | {"id": self.pick("id0", "y")}]}),
            lambda: self.send({"tool_calls": [piece | {"extra_content": {"a": 1}}]}),
            lambda: self.send({"tool_calls": [{"index": 3, "extra_content": {"a": 1}}, piece]}),
            lambda: self.send({"function_call": {"name": "f", "arguments": self.text()}}),
            lambda: self.send({"content": [{"type": self.pick("text", "odd"), "text": self.text()}]}),
            lambda: self.send({"content": [{"type": "thinking", "thinking": self.text()}]}),
            lambda: self.send({"reasoning_details": [{"type": "reasoning.text", "text": self.text()}]}),
            lambda: self.send({"content": self.text()}, native_finish_reason=self.pick("length", "stop", "")),
            lambda: self.send({"content": self.text()}, usage={"completion_tokens": self.pick(1, 2)}),
            lambda: self.send({"content": self.text()}, choice=self.pick(..., None, 1)),
            lambda: self.say({"index": 0, "delta": {"content": self.text()}}, {"index": 1, "delta": {}}),
            lambda: self.frames.append(self.spelling.sse({"error": {"message": "busy"}})),
            lambda: self.frames.append(b"data: [DONE]\n\n"),
            lambda: self.delta(lane._replace(place=lane.place + 1)),
        )

    def stop(self, lane: Lane) -> None:
        """Nothing on the wire ends a lane."""

    def end(self) -> None:
        for choice in range(self.choices):
            self.send({}, self.pick("stop", "tool_calls", "length"), choice=choice)
        self.frames.append(b"data: [DONE]\n\n")


#: The number of the next event where it gets long, passes a bound, or is none.
_NUMBERS = (0, 0, 0, 5, 95, 998, -3, 10**17 - 4, 10**18 - 4, 2**62 - 4, 2**63 - 4, 2**64 - 4)
_TEXTS = ("output_text", "refusal", "reasoning_text", "reasoning_summary_text")
_CALLS = {"function_call": "function_call_arguments", "custom_tool_call": "custom_tool_call_input"}


class Responses(Walker):
    """A lane is a part of an item. style: the members that say where."""

    def begin(self) -> None:
        self.number: Any = self.pick(None, *_NUMBERS)
        self.is_padded = self.chance.random() < 0.3
        self.send("response.created", response={"id": "r1", "status": "in_progress"})

    def send(self, kind: str, **members: Any) -> None:
        told: Step = {"type": kind}
        if self.number is not None:
            told["sequence_number"] = self.number
            self.number += 1
            if self.is_wild():
                number = self.number
                self.number += self.pick(0, 0, -2, -1, 1, 2)
                odd = (
                    number,
                    None,
                    True,
                    "7",
                    7.0,
                    Raw(b"-0"),
                    Raw(b"%d.0" % number),
                    Raw(b"0%d" % number),
                    ...,
                )
                told["sequence_number"] = self.pick(*odd)
        self.frames.append(self.spelling.sse(given(told | members), kind))

    def item(self, lane: Lane, *, done: bool) -> Step:
        index = lane.place
        item_id = f"i{index}" if not self.is_wild() else self.pick("i0", "i1", "", ...)
        told: Step = {"type": lane.kind, "id": item_id, "status": "completed" if done else "in_progress"}
        if lane.kind in _CALLS:
            call_id = f"call{index}" if not self.is_wild() else self.pick("call0", "", ...)
            told |= {"call_id": call_id, "name": "f"}
            text: Any = ... if done else ""
            if self.is_wild():
                text = self.pick("", "{}", None)
            told["input" if lane.kind == "custom_tool_call" else "arguments"] = text
        return given(told)

    def start(self) -> None:
        kind = self.pick(*_CALLS, "function_call", "message", "reasoning")
        lane = Lane(kind, self.free_index())
        place: Step = {
            "item_id": self.pick(f"i{lane.place}", f"i{lane.place}", ..., ""),
            "output_index": lane.place,
        }
        if kind in _CALLS:
            style = (_CALLS[kind], place)
        else:
            text = self.pick("output_text", "refusal") if kind == "message" else self.pick(*_TEXTS[2:])
            member = "summary_index" if text == "reasoning_summary_text" else "content_index"
            style = (
                text,
                place | {member: self.pick(0, 0, 1)} | ({"logprobs": []} if kind == "message" else {}),
            )
        self.lanes.append(lane._replace(style=style))
        if not self.is_wild():
            self.send("response.output_item.added", output_index=lane.place, item=self.item(lane, done=False))

    def delta(self, lane: Lane) -> None:
        text, place = lane.style
        if self.is_wild():
            place = place | self.pick(
                {"item_id": "z"}, {"item_id": ...}, {"output_index": ...}, {"output_index": 0}, {"x": 1}
            )
        padding = {"obfuscation": self.padding()} if self.is_padded else {}
        self.send(f"response.{text}.delta", **place, delta=self.text(), **padding)

    def closed(self, lane: Lane) -> None:
        text, place = lane.style
        member = {
            "refusal": "refusal",
            "function_call_arguments": "arguments",
            "custom_tool_call_input": "input",
        }
        self.send(f"response.{text}.done", **place, **{member.get(text, "text"): self.pick("", "a", "{}")})

    def stop(self, lane: Lane) -> None:
        self.send("response.output_item.done", output_index=lane.place, item=self.item(lane, done=True))

    def mild(self) -> None:
        self.one_of(
            lambda: self.send("keepalive"),
            lambda: self.frames.append(self.spelling.sse({"type": "ping"}, "ping")),
            lambda: self.send("response.in_progress", response={"id": "r1"}),
            lambda: self.send("response.output_text.annotation.added", output_index=0),
        )

    def wild(self) -> None:
        lane = self.pick(*self.lanes)
        self.one_of(
            lambda: self.closed(lane),
            lambda: self.closed(lane),
            lambda: self.stop(lane),
            lambda: self.delta(lane._replace(style=(lane.style[0], lane.style[1] | {"output_index": 9}))),
            lambda: self.send(
                "response.output_item.added", output_index=lane.place, item=self.item(lane, done=False)
            ),
            lambda: self.send("response.created", response={"id": self.pick("r1", "r2")}),
            lambda: self.send("response.unknown", delta="a"),
            lambda: self.send("error", message="busy"),
            lambda: self.send(
                "response.completed", response={"id": "r1", "status": "completed", "output": []}
            ),
            lambda: self.frames.append(b"data: [DONE]\n\n"),
        )

    def end(self) -> None:
        for lane in self.lanes:
            self.stop(lane)
        self.send("response.completed", response={"id": "r1", "status": "completed", "output": []})
