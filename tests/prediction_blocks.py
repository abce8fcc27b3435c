"""Random walks through the protocols of blocks: starts, deltas and stops by index (see prediction_walker)."""

from __future__ import annotations

from typing import Any

from prediction_walker import Lane, Step, Walker, given

__all__ = ["Anthropic", "Cohere", "Converse", "Interactions"]


_DELTAS = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}


class Anthropic(Walker):
    """A lane is a block."""

    def send(self, kind: str, **members: Any) -> None:
        self.frames.append(self.spelling.sse({"type": kind, **members}, kind))

    def begin(self) -> None:
        if not self.is_wild():
            self.send("message_start", message={"id": "m1", "model": "m", "content": []})

    def start(self) -> None:
        lane = Lane(
            self.pick("text", "thinking", "tool_use", "tool_use", "tool_use", "server_tool_use"),
            self.free_index(),
        )
        self.lanes.append(lane)
        block: Step = {"type": lane.kind}
        if lane.kind in _DELTAS:
            block[lane.kind] = self.pick("", "", "A")
        else:
            call_id = f"id{lane.place}" if not self.is_wild() else "id0"
            block |= {"id": call_id, "name": "f", "input": {} if not self.is_wild() else {"a": 1}}
        if not self.is_wild():
            self.send("content_block_start", index=lane.place, content_block=block)

    def delta(self, lane: Lane) -> None:
        kind, member = _DELTAS.get(lane.kind, ("input_json_delta", "partial_json"))
        index = lane.place
        delta: Step = {"type": kind, member: self.text()}
        if self.is_wild():
            delta |= self.pick(
                {"x": 1}, {"type": "text_delta"}, {"type": "odd_delta"}, {member: None}, {"text": "a"}
            )
        if self.is_wild():
            index = self.pick(0, 1, index + 1)
        self.send("content_block_delta", index=index, delta=delta)

    def stop(self, lane: Lane) -> None:
        self.send("content_block_stop", index=lane.place)

    def mild(self) -> None:
        self.one_of(
            lambda: self.send("ping"),
            lambda: self.frames.append(b": ping\n\n"),
            lambda: self.send("message_delta", delta={}, usage={"output_tokens": 3}),
        )

    def wild(self) -> None:
        lane = self.pick(*self.lanes)
        word = self.pick("tool_use", "end_turn", "max_tokens")
        self.one_of(
            lambda: self.stop(lane),
            lambda: self.send(
                "content_block_delta", index=lane.place, delta={"type": "signature_delta", "signature": "s"}
            ),
            lambda: self.send(
                "content_block_delta", index=lane.place, delta={"type": "citations_delta", "citation": {}}
            ),
            lambda: self.send("content_block_hint", index=lane.place, delta={}),
            lambda: self.send("completion", completion=self.text()),
            lambda: self.send("message_delta", delta={"stop_reason": word}),
            lambda: self.send("message_start", message={"id": self.pick("m1", "m2"), "content": []}),
            lambda: self.send("error", error={"type": "overloaded_error", "message": "busy"}),
            lambda: self.send("message_stop"),
            lambda: self.frames.append(b"data: [DONE]\n\n"),
        )

    def end(self) -> None:
        for lane in self.lanes:
            self.stop(lane)
        self.send("message_delta", delta={"stop_reason": self.pick("tool_use", "end_turn")})
        self.send("message_stop")


class Interactions(Walker):
    """A lane is a step."""

    def begin(self) -> None:
        self.send("interaction.created", interaction={"id": "i1", "status": "in_progress"})

    def send(self, kind: str, **members: Any) -> None:
        event_id = {"event_id": self.pick("", "e1", "e2")} if self.is_wild() else {}
        self.frames.append(self.spelling.sse(given({"event_type": kind, **event_id, **members}), kind))

    def start(self) -> None:
        lane = Lane(
            self.pick("model_output", "thought", *["function_call"] * 3, "google_search_call"),
            self.free_index(),
        )
        self.lanes.append(lane)
        step: Step = {"type": lane.kind}
        if lane.kind == "function_call":
            step |= {"id": f"id{lane.place}" if not self.is_wild() else "id0", "name": "f"}
            step["arguments"] = {} if not self.is_wild() else {"a": 1}
        elif lane.kind != "google_search_call":
            member = "content" if lane.kind == "model_output" else "summary"
            step |= self.pick({}, {member: []}, {member: [{"type": "text", "text": self.pick("A", "ü")}]})
        if not self.is_wild():
            self.send("step.start", index=lane.place, step=step)

    def delta(self, lane: Lane) -> None:
        kind = lane.kind if not self.is_wild() else self.pick("model_output", "thought", "function_call")
        delta: Step = {"type": "arguments_delta", "arguments": self.text()}
        if kind == "model_output":
            delta = {"type": "text", "text": self.text()}
        elif kind == "thought":
            delta = {"type": "thought_summary", "content": {"type": "text", "text": self.text()}}
        if self.is_wild():
            delta |= self.pick({"x": 1}, {"text": None}, {"type": "odd"}, {"arguments": {"a": 1}})
        index = lane.place if not self.is_wild() else self.pick(0, 1, ..., None)
        self.send("step.delta", index=index, delta=delta)

    def stop(self, lane: Lane) -> None:
        self.send("step.stop", index=lane.place)

    def mild(self) -> None:
        index = self.pick(*(lane.place for lane in self.lanes))
        self.one_of(
            lambda: self.frames.append(b": ping\n\n"),
            lambda: self.send("interaction.status_update", interaction_id="i1", status="in_progress"),
            lambda: self.send(
                "step.delta", index=index, delta={"type": "thought_signature", "signature": "s"}
            ),
        )

    def wild(self) -> None:
        lane = self.pick(*self.lanes)
        deltas: tuple[Step, ...] = (
            {"type": "text_annotation_delta", "annotations": [{"a": 1}]},
            {"type": "image", "data": "x"},
            {"type": "model_output", "content": [{"type": "text", "text": "B"}]},
            {"type": "odd", "text": self.text()},
        )
        self.one_of(
            lambda: self.send("step.delta", index=lane.place, delta=self.pick(*deltas)),
            lambda: self.send("step.delta", index=lane.place, delta=self.pick(*deltas)),
            lambda: self.stop(lane),
            lambda: self.send("step.odd", index=lane.place),
            lambda: self.send(
                "interaction.status_update", status=self.pick("idle", "requires_action", "failed")
            ),
            lambda: self.send("error", error={"message": "busy"}),
            lambda: self.send("interaction.completed", interaction={"id": "i1", "status": "completed"}),
            lambda: self.frames.append(b"data: [DONE]\n\n"),
        )

    def end(self) -> None:
        for lane in self.lanes:
            self.stop(lane)
        status = self.pick("requires_action", "completed")
        self.send("interaction.completed", interaction={"id": "i1", "status": status})


class Converse(Walker):
    """A lane is a block; text and reasoning have no start."""

    def begin(self) -> None:
        self.is_padded = self.chance.random() < 0.7
        self.send("messageStart", role="assistant")

    def send(self, kind: str, **members: Any) -> None:
        padding = {"p": self.padding()} if self.is_padded else {}
        self.frames.append(self.spelling.aws(members | padding, kind))

    def start(self) -> None:
        lane = Lane(self.pick("text", "reasoning", "toolUse", "toolUse", "toolUse"), self.free_index())
        self.lanes.append(lane)
        if lane.kind == "toolUse" and not self.is_wild():
            tool: Step = {"toolUseId": f"id{lane.place}" if not self.is_wild() else "id0", "name": "f"}
            tool |= {} if not self.is_wild() else {"type": self.pick("server_tool_use", "odd")}
            self.send("contentBlockStart", contentBlockIndex=lane.place, start={"toolUse": tool})
        elif self.is_wild():
            self.send(
                "contentBlockStart",
                contentBlockIndex=lane.place,
                start=self.pick({}, {"text": ""}, {"odd": {}}),
            )

    def delta(self, lane: Lane) -> None:
        kind = lane.kind if not self.is_wild() else self.pick("text", "reasoning", "toolUse")
        delta: Step = {"toolUse": {"input": self.text()}}
        if kind == "text":
            delta = {"text": self.text()}
        elif kind == "reasoning":
            delta = {"reasoningContent": {"text": self.text()}}
        if self.is_wild():
            delta |= self.pick(
                {"x": 1}, {"text": self.text()}, {"citation": {}}, {"toolUse": {"input": {"a": 1}}}
            )
        index = lane.place if not self.is_wild() else self.pick(0, 1, lane.place + 1)
        self.send("contentBlockDelta", contentBlockIndex=index, delta=delta)

    def stop(self, lane: Lane) -> None:
        self.send("contentBlockStop", contentBlockIndex=lane.place)

    def mild(self) -> None:
        self.send("initial-response")

    def wild(self) -> None:
        lane = self.pick(*self.lanes)
        odd: Step = self.pick(
            {"reasoningContent": {"signature": "s"}}, {"citation": {"title": "t"}}, {"odd": 1}, {}
        )
        self.one_of(
            lambda: self.send("contentBlockDelta", contentBlockIndex=lane.place, delta=odd),
            lambda: self.send("contentBlockDelta", contentBlockIndex=lane.place, delta=odd),
            lambda: self.stop(lane),
            lambda: self.send("messageStart", role="assistant"),
            lambda: self.send("odd", contentBlockIndex=lane.place, delta={"text": self.text()}),
            lambda: self.send("messageStop", stopReason=self.pick("tool_use", "end_turn")),
            lambda: self.send("metadata", usage={"outputTokens": 3}),
        )

    def end(self) -> None:
        for lane in self.lanes:
            self.stop(lane)
        self.send("messageStop", stopReason=self.pick("tool_use", "end_turn"))
        self.send("metadata", usage={"outputTokens": 3})


class Cohere(Walker):
    """A lane is a content, the plan, or a call; content and calls count apart."""

    def begin(self) -> None:
        if not self.is_wild():
            self.send("message-start", id="m1")

    def send(self, kind: str, **members: Any) -> None:
        self.frames.append(self.spelling.sse(given({"type": kind, **members}), kind))

    def start(self) -> None:
        lane = Lane(self.pick("text", "thinking", "plan", "call", "call", "call"), self.free_index())
        self.lanes.append(lane)
        if lane.kind == "call" and not self.is_wild():
            call_id = f"id{lane.place}" if not self.is_wild() else "id0"
            function: Step = {
                "name": "f",
                "arguments": "" if not self.is_wild() else self.pick("{}", {}, {"a": 1}),
            }
            told = {"id": call_id, "type": "function", "function": function}
            self.send("tool-call-start", index=lane.place, delta={"message": {"tool_calls": told}})
        elif lane.kind in ("text", "thinking") and not self.is_wild():
            told = {"type": lane.kind, lane.kind: self.pick("", "", "A")}
            self.send("content-start", index=lane.place, delta={"message": {"content": told}})

    def delta(self, lane: Lane) -> None:
        index: Any = lane.place if not self.is_wild() else self.pick(0, 1, None, ...)
        if lane.kind == "plan":
            self.send("tool-plan-delta", delta={"message": {"tool_plan": self.text()}})
        elif lane.kind == "call":
            told: Step = {"function": {"arguments": self.text()}}
            if self.is_wild():
                told |= self.pick(
                    {"id": "id0"}, {"function": {"name": "g", "arguments": "a"}}, {"function": {}}
                )
            self.send("tool-call-delta", index=index, delta={"message": {"tool_calls": told}})
        else:
            content: Step = {lane.kind: self.text()}
            if self.is_wild():
                content |= self.pick({"text": self.text()}, {"type": "text"}, {"thinking": ""}, {"x": 1})
            self.send("content-delta", index=index, delta={"message": {"content": content}})

    def stop(self, lane: Lane) -> None:
        self.send("tool-call-end" if lane.kind == "call" else "content-end", index=lane.place)

    def mild(self) -> None:
        self.one_of(
            lambda: self.send("citation-end", index=0),
            lambda: self.send("citation-start", index=0, delta={"message": {"citations": {"text": "x"}}}),
            lambda: self.frames.append(b": ping\n\n"),
        )

    def wild(self) -> None:
        lane = self.pick(*self.lanes)
        self.one_of(
            lambda: self.stop(lane),
            lambda: self.send("odd", index=lane.place),
            lambda: self.send("debug"),
            lambda: self.send("message-start", id=self.pick("m1", "m2")),
            lambda: self.send(
                "message-end", delta={"finish_reason": self.pick("TOOL_CALL", "COMPLETE", "ERROR")}
            ),
            lambda: self.frames.append(self.spelling.sse({"error": "busy"})),
            lambda: self.frames.append(b"data: [DONE]\n\n"),
        )

    def end(self) -> None:
        for lane in self.lanes:
            self.stop(lane)
        self.send("message-end", delta={"finish_reason": self.pick("TOOL_CALL", "COMPLETE")})
