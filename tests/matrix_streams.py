"""The cut matrix as bytes: every way in which a turn can be cut or spoiled, written in every protocol.

Rules
 - A turn asks for two calls, A and then B; what a row does, it does to B, and A is whole.
 - `matrix()` gives the streams, `NOT_ON_WIRE` says of the others why the wire cannot have them.
 - The standard library alone: a script that feeds the same bytes to other parsers can import this.
"""

# ruff: noqa: ARG002 - each protocol's step takes what any of them needs

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from model import frames

__all__ = ["NOT_ON_WIRE", "PROTOCOLS", "ROWS", "A", "B", "Call", "good", "matrix"]

Step = dict[str, Any]
End = Literal["good", "short"]


class Call(NamedTuple):
    call_id: str
    name: str
    pieces: tuple[str, ...]
    value: Step

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


A = Call("call_A", "get_time", ('{"tz":', '"UTC"}'), {"tz": "UTC"})
B = Call("call_B", "remove_file", ('{"path":"/tmp', '/a"}'), {"path": "/tmp/a"})
DOUBLE_KEY = '{"path":"/tmp/a","path":"/"}'

#: The rows, and what each does.
ROWS = {
    "cut_in_arguments": "the input ends between two pieces of B's arguments",
    "whole_no_terminal": "B's arguments are whole JSON, then the input ends",
    "sentinel_no_terminal": "the end mark comes, but nothing that says how the turn ended",
    "cut_after_name": "B has its name, then the input ends",
    "limit_in_arguments": "the token limit stops the turn inside B's arguments, and the wire says so",
    "success_half_json": "the wire says that all is well, but B's arguments are half a JSON text",
    "two_on_one_index": "A and B come at one index",
    "mixed_on_one_index": "both begin at one index before either has arguments",
    "heads_on_one_index": "both begin at one index, then pieces of A's arguments come; B has none",
    "no_index": "no fragment has an index",
    "duplicate_key": "B's arguments hold one key twice",
    "error_in_mid_stream": "an error comes inside B's arguments",
    "item_done_then_cut": "B is closed as its protocol closes a call, then the input ends",
    "same_delta_twice": "the last piece of B's arguments is delivered twice",
    "unterminated_last_event": "the last event lacks its end",
}


class Writer:
    """One protocol's way of writing: each method gives the frames of one step."""

    index_name: str | None = "index"

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.one_index = False
        self.no_index = False
        self.start()

    def at(self, call: Call) -> Step:
        number = 0 if self.one_index or call.call_id == A.call_id else 1
        return {} if self.no_index or self.index_name is None else {self.index_name: number}

    def start(self) -> None: ...

    def begin(self, call: Call) -> None:
        raise NotImplementedError

    def piece(self, call: Call, text: str) -> None:
        raise NotImplementedError

    def close(self, call: Call, text: str) -> None: ...

    def finish(self, end: End, output: list[tuple[Call, str]]) -> None:
        raise NotImplementedError

    def sentinel(self) -> None:
        self.frames.append(frames.DONE)

    def error(self) -> None:
        raise NotImplementedError

    def whole(self, call: Call, text: str | None = None) -> None:
        """A call from its beginning to its close; text: its arguments, if they are others."""
        self.begin(call)
        for piece in call.pieces if text is None else [text]:
            self.piece(call, piece)
        self.close(call, call.arguments if text is None else text)


class Responses(Writer):
    index_name = "output_index"

    def __init__(self) -> None:
        self.number = 0
        super().__init__()

    def send(self, kind: str, **members: Any) -> None:
        self.frames.append(frames.sse({"type": kind, "sequence_number": self.number, **members}, kind))
        self.number += 1

    def item(self, call: Call, text: str, status: str) -> Step:
        item = {"type": "function_call", "id": "fc_" + call.call_id, "call_id": call.call_id}
        return {**item, "name": call.name, "arguments": text, "status": status}

    def start(self) -> None:
        self.send("response.created", response={"id": "resp_1", "status": "in_progress", "output": []})

    def begin(self, call: Call) -> None:
        self.send("response.output_item.added", **self.at(call), item=self.item(call, "", "in_progress"))

    def piece(self, call: Call, text: str) -> None:
        where = {"item_id": "fc_" + call.call_id, **self.at(call)}
        self.send("response.function_call_arguments.delta", **where, delta=text)

    def close(self, call: Call, text: str) -> None:
        where = {"item_id": "fc_" + call.call_id, **self.at(call)}
        self.send("response.function_call_arguments.done", **where, arguments=text)
        self.send("response.output_item.done", **self.at(call), item=self.item(call, text, "completed"))

    def finish(self, end: End, output: list[tuple[Call, str]]) -> None:
        items = [self.item(call, text, "completed") for call, text in output]
        response: Step = {"id": "resp_1", "status": "completed", "output": items}
        if end == "short":
            response |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        self.send("response." + response["status"], response=response)

    def error(self) -> None:
        self.send("error", error={"type": "server_error", "code": "server_error", "message": "busy"})


class Chat(Writer):
    def send(self, delta: Step, finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        self.frames.append(frames.sse({"id": "c1", "object": "chat.completion.chunk", "choices": [choice]}))

    def start(self) -> None:
        self.send({"role": "assistant", "content": ""})

    def begin(self, call: Call) -> None:
        head = {"id": call.call_id, "type": "function"}
        self.send(
            {"tool_calls": [{**self.at(call), **head, "function": {"name": call.name, "arguments": ""}}]}
        )

    def piece(self, call: Call, text: str) -> None:
        self.send({"tool_calls": [{**self.at(call), "function": {"arguments": text}}]})

    def finish(self, end: End, output: list[tuple[Call, str]]) -> None:
        self.send({}, "length" if end == "short" else "tool_calls")

    def error(self) -> None:
        self.frames.append(frames.sse({"error": {"message": "busy", "type": "server_error", "code": 503}}))


class Anthropic(Writer):
    def send(self, kind: str, **members: Any) -> None:
        self.frames.append(frames.sse({"type": kind, **members}, kind))

    def start(self) -> None:
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
        usage = {"input_tokens": 3, "output_tokens": 1}
        self.send("message_start", message={**message, "stop_reason": None, "usage": usage})

    def begin(self, call: Call) -> None:
        block = {"type": "tool_use", "id": call.call_id, "name": call.name, "input": {}}
        self.send("content_block_start", **self.at(call), content_block=block)

    def piece(self, call: Call, text: str) -> None:
        delta = {"type": "input_json_delta", "partial_json": text}
        self.send("content_block_delta", **self.at(call), delta=delta)

    def close(self, call: Call, text: str) -> None:
        self.send("content_block_stop", **self.at(call))

    def finish(self, end: End, output: list[tuple[Call, str]]) -> None:
        reason = "max_tokens" if end == "short" else "tool_use"
        self.send("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 9})
        self.send("message_stop")

    def error(self) -> None:
        self.send("error", error={"type": "overloaded_error", "message": "busy"})


class Invoke(Anthropic):
    def send(self, kind: str, **members: Any) -> None:
        self.frames.append(frames.invoke({"type": kind, **members}))

    def error(self) -> None:
        self.frames.append(frames.aws_error("modelStreamErrorException", "busy"))


class Gemini(Writer):
    """Calls come whole; pieces of arguments are Vertex's values at paths."""

    index_name = None

    def send(self, part: Step) -> None:
        content = {"role": "model", "parts": [part]}
        self.frames.append(frames.sse({"candidates": [{"content": content, "index": 0}]}))

    def begin(self, call: Call) -> None:
        self.send({"functionCall": {"id": call.call_id, "name": call.name, "willContinue": True}})

    def piece(self, call: Call, text: str) -> None:
        (key, value) = next(iter(call.value.items()))
        half = value[: len(value) // 2] if text == call.pieces[0] else value[len(value) // 2 :]
        entry = {"jsonPath": f"$.{key}", "stringValue": half, "willContinue": text == call.pieces[0]}
        self.send({"functionCall": {"partialArgs": [entry], "willContinue": True}})

    def close(self, call: Call, text: str) -> None:
        self.send({"functionCall": {}})

    def whole(self, call: Call, text: str | None = None) -> None:
        args = call.value
        self.send({"functionCall": {"id": call.call_id, "name": call.name, "args": args}})
        if text is not None:
            good = frames.compact(args).encode()
            self.frames[-1] = self.frames[-1].replace(good, text.encode())

    def finish(self, end: End, output: list[tuple[Call, str]]) -> None:
        reason = "MAX_TOKENS" if end == "short" else "STOP"
        self.frames.append(frames.sse({"candidates": [{"finishReason": reason, "index": 0}]}))

    def sentinel(self) -> None:
        """The array form has a mark for its end: its bracket."""
        elements = [frame.removeprefix(b"data: ").rstrip() for frame in self.frames]
        self.frames = [b"[" + b",\n".join(elements) + b"]\n"]

    def error(self) -> None:
        self.frames.append(frames.sse({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}))


class Interactions(Writer):
    def __init__(self) -> None:
        self.number = 0
        super().__init__()

    def send(self, kind: str, **members: Any) -> None:
        event = {"event_type": kind, "event_id": f"e{self.number}", **members}
        self.frames.append(frames.sse(event, kind))
        self.number += 1

    def start(self) -> None:
        self.send("interaction.created", interaction={"id": "i1", "status": "in_progress"})

    def begin(self, call: Call) -> None:
        step = {"type": "function_call", "id": call.call_id, "name": call.name, "arguments": {}}
        self.send("step.start", **self.at(call), step=step)

    def piece(self, call: Call, text: str) -> None:
        self.send("step.delta", **self.at(call), delta={"type": "arguments_delta", "arguments": text})

    def close(self, call: Call, text: str) -> None:
        self.send("step.stop", **self.at(call))

    def finish(self, end: End, output: list[tuple[Call, str]]) -> None:
        status = "incomplete" if end == "short" else "requires_action"
        self.send("interaction.completed", interaction={"id": "i1", "status": status})

    def error(self) -> None:
        self.send("error", error={"code": 503, "message": "busy"})


class Ollama(Writer):
    index_name = None

    def record(self, message: Step, **members: Any) -> None:
        whole = {"model": "m", "message": {"role": "assistant", "content": "", **message}, "done": False}
        self.frames.append(frames.line({**whole, **members}))

    def whole(self, call: Call, text: str | None = None) -> None:
        number = 0 if self.one_index or call.call_id == A.call_id else 1
        body = {"name": call.name, "arguments": call.value}
        at = {} if self.no_index else {"index": number}
        self.record({"tool_calls": [{"id": call.call_id, "function": {**at, **body}}]})
        if text is not None:
            good = frames.compact(call.value).encode()
            self.frames[-1] = self.frames[-1].replace(good, text.encode())

    def begin(self, call: Call) -> None:
        """As far as its name: the rest of the record is cut off."""
        self.whole(call)
        frame = self.frames[-1]
        self.frames[-1] = frame[: frame.index(b',"arguments"')]

    def piece(self, call: Call, text: str) -> None:
        """As far as the first piece of its arguments."""
        self.frames.pop()
        self.whole(call)
        frame = self.frames[-1]
        self.frames[-1] = frame[: frame.index(call.pieces[0].encode()) + len(call.pieces[0])]

    def finish(self, end: End, output: list[tuple[Call, str]]) -> None:
        self.record({}, done=True, done_reason="length" if end == "short" else "stop")

    def error(self) -> None:
        self.frames.append(frames.line({"error": "model runner has unexpectedly stopped"}))


class Converse(Writer):
    index_name = "contentBlockIndex"

    def send(self, kind: str, **members: Any) -> None:
        self.frames.append(frames.aws(kind, members))

    def start(self) -> None:
        self.send("messageStart", role="assistant")

    def begin(self, call: Call) -> None:
        tool = {"toolUseId": call.call_id, "name": call.name}
        self.send("contentBlockStart", **self.at(call), start={"toolUse": tool})

    def piece(self, call: Call, text: str) -> None:
        self.send("contentBlockDelta", **self.at(call), delta={"toolUse": {"input": text}})

    def close(self, call: Call, text: str) -> None:
        self.send("contentBlockStop", **self.at(call))

    def finish(self, end: End, output: list[tuple[Call, str]]) -> None:
        self.send("messageStop", stopReason="max_tokens" if end == "short" else "tool_use")

    def error(self) -> None:
        self.frames.append(frames.aws_error("modelStreamErrorException", "busy"))


class Cohere(Writer):
    def send(self, kind: str, **members: Any) -> None:
        self.frames.append(frames.sse({"type": kind, **members}, kind))

    def start(self) -> None:
        self.send("message-start", id="m1", delta={"message": {"role": "assistant"}})

    def begin(self, call: Call) -> None:
        head = {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        self.send("tool-call-start", **self.at(call), delta={"message": {"tool_calls": head}})

    def piece(self, call: Call, text: str) -> None:
        body = {"tool_calls": {"function": {"arguments": text}}}
        self.send("tool-call-delta", **self.at(call), delta={"message": body})

    def close(self, call: Call, text: str) -> None:
        self.send("tool-call-end", **self.at(call))

    def finish(self, end: End, output: list[tuple[Call, str]]) -> None:
        self.send("message-end", delta={"finish_reason": "MAX_TOKENS" if end == "short" else "TOOL_CALL"})

    def error(self) -> None:
        self.send("message-end", delta={"finish_reason": "ERROR", "error": "busy"})


_WRITERS: dict[str, Callable[[], Writer]] = {
    "openai-responses": Responses,
    "openai-chat": Chat,
    "anthropic-messages": Anthropic,
    "bedrock-invoke": Invoke,
    "gemini": Gemini,
    "gemini-interactions": Interactions,
    "ollama-chat": Ollama,
    "bedrock-converse": Converse,
    "cohere-chat": Cohere,
}
PROTOCOLS = tuple(_WRITERS)

_NO_SENTINEL = "the wire has no end mark besides its terminal event"
_WHOLE = "a call comes whole in one record, and a record is JSON or is none"
NOT_ON_WIRE: dict[tuple[str, str], str] = {
    ("bedrock-invoke", "sentinel_no_terminal"): _NO_SENTINEL,
    ("bedrock-converse", "sentinel_no_terminal"): _NO_SENTINEL,
    ("ollama-chat", "sentinel_no_terminal"): _NO_SENTINEL,
    ("ollama-chat", "success_half_json"): _WHOLE,
    ("ollama-chat", "limit_in_arguments"): _WHOLE + ": the server drops what it cannot parse",
    ("openai-chat", "item_done_then_cut"): "no event closes a call: only the choice's finish does",
    ("gemini", "two_on_one_index"): "calls have no index: their order is all there is",
    ("gemini", "mixed_on_one_index"): "calls have no index: their order is all there is",
    ("gemini", "heads_on_one_index"): "calls have no index: their order is all there is",
    ("ollama-chat", "mixed_on_one_index"): _WHOLE,
    ("ollama-chat", "heads_on_one_index"): _WHOLE,
    ("gemini", "no_index"): "calls have no index: their order is all there is",
    (
        "gemini",
        "success_half_json",
    ): "arguments are an object, or values at paths: there is no half JSON text",
}


def _mixed_on_one_index(writer: Writer, *, both: bool) -> None:
    writer.one_index = True
    filled = [(A, A.pieces), (B, B.pieces if both else ())]
    for call, _ in filled:
        writer.begin(call)
    for call, pieces in filled:
        for piece in pieces:
            writer.piece(call, piece)
    for call, pieces in filled:
        writer.close(call, "".join(pieces))
    writer.finish("good", [(call, "".join(pieces)) for call, pieces in filled])


def _half(writer: Writer, end: End) -> None:
    writer.whole(A)
    writer.begin(B)
    writer.piece(B, B.pieces[0])
    if end == "good" or not isinstance(writer, Responses | Gemini):
        writer.close(B, B.pieces[0])
    writer.finish(end, [(A, A.arguments), (B, B.pieces[0])])


def _cut(writer: Writer, row: str) -> None:
    """The rows that end before anything says how the turn ended."""
    writer.whole(A)
    if row in ("sentinel_no_terminal", "item_done_then_cut") or (
        isinstance(writer, Gemini | Ollama) and row == "whole_no_terminal"
    ):
        writer.whole(B)
    else:
        writer.begin(B)
        count = {"cut_after_name": 0, "cut_in_arguments": 1}.get(row, 2)
        for piece in B.pieces[:count]:
            writer.piece(B, piece)
    if row == "sentinel_no_terminal":
        writer.sentinel()


def _twice(writer: Writer) -> None:
    writer.whole(A)
    if isinstance(writer, Ollama):
        writer.whole(B)
        writer.frames.append(writer.frames[-1])
    else:
        writer.begin(B)
        writer.piece(B, B.pieces[0])
        writer.piece(B, B.pieces[1])
        writer.frames.append(writer.frames[-1])
        writer.close(B, B.arguments)
    writer.finish("good", [(A, A.arguments), (B, B.arguments)])


def _error(writer: Writer) -> None:
    writer.whole(A)
    if not isinstance(writer, Ollama):
        writer.begin(B)
        writer.piece(B, B.pieces[0])
    writer.error()


def _ended(writer: Writer, text: str | None = None) -> None:
    writer.whole(A)
    writer.whole(B, text)
    writer.finish("good", [(A, A.arguments), (B, B.arguments if text is None else text)])


def _unterminated(protocol: str, written: list[bytes]) -> bytes:
    data = frames.join(written)
    return data[:-1] if protocol in frames.BINARY else data.rstrip()


def _stream(protocol: str, row: str) -> bytes:
    writer = _WRITERS[protocol]()
    if row in ("limit_in_arguments", "success_half_json"):
        _half(writer, "short" if row == "limit_in_arguments" else "good")
    elif row in ("two_on_one_index", "no_index", "good"):
        writer.one_index, writer.no_index = row == "two_on_one_index", row == "no_index"
        _ended(writer)
    elif row in ("mixed_on_one_index", "heads_on_one_index"):
        _mixed_on_one_index(writer, both=row == "mixed_on_one_index")
    elif row == "duplicate_key":
        _ended(writer, DOUBLE_KEY)
    elif row == "error_in_mid_stream":
        _error(writer)
    elif row == "same_delta_twice":
        _twice(writer)
    elif row == "unterminated_last_event":
        _ended(writer)
        return _unterminated(protocol, writer.frames)
    else:
        _cut(writer, row)
    return frames.join(writer.frames)


def good(protocol: str) -> bytes:
    """The turn with nothing wrong: both calls may run."""
    return _stream(protocol, "good")


def matrix() -> list[tuple[str, str, bytes]]:
    """Protocol, row and bytes, for every row that the protocol's wire can have."""
    pairs = ((protocol, row) for protocol in PROTOCOLS for row in ROWS)
    return [(*pair, _stream(*pair)) for pair in pairs if pair not in NOT_ON_WIRE]
