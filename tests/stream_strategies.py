"""Whole Responses streams made by hypothesis, what a correct reader finds in them, and ways to spoil them.

Rules
 - A generated stream is right: numbered or not, its copies agree, every call's arguments are one JSON object.
 - What it must give is kept beside it, computed from the drawn parts, never read back from the bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from streams import Event, Framing, function_item, message_item, wire

__all__ = ["Made", "framings", "json_objects", "json_values", "spoilt", "turns"]

_words = st.text(alphabet=st.sampled_from('ab"\\/ \n\t\x7f\u2028é北🌍😀\u0000{}[]:,'), max_size=12)
_numbers = st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | _numbers | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(_words, json_values, max_size=4)


@st.composite
def _object_texts(draw: st.DrawFn) -> str:
    """One JSON object, written in one of the ways in which models write it."""
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n\t", " : ")]))
    text = json.dumps(draw(json_objects), ensure_ascii=draw(st.booleans()), separators=separators)
    return draw(st.sampled_from(["", " ", "\r\n"])) + text + draw(st.sampled_from(["", "\n"]))


framings = st.builds(
    Framing,
    eol=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    names=st.booleans(),
    between=st.sampled_from([b"", b"", b": ping\n\n", b":\r\n", b"\n", b"retry: 10\n\n"]),
    escaped=st.booleans(),
    bom=st.booleans(),
    space=st.booleans(),
    end=st.sampled_from([b"", b"data: [DONE]\n\n", b": bye\n\n", b"\n\n"]),
)


@st.composite
def _pieces(draw: st.DrawFn, text: str, units: bool) -> list[str]:
    """The text in pieces; units: cut between UTF-16 units, so that a character may be cut in half."""
    if not draw(st.booleans()):
        return [text]
    coded = text.encode("utf-16-le", "surrogatepass") if units else text.encode("utf-32-le")
    width, codec = (2, "utf-16-le") if units else (4, "utf-32-le")
    places = sorted(draw(st.lists(st.integers(0, len(coded) // width), max_size=4)))
    borders = [0, *places, len(coded) // width]
    return [coded[a * width : b * width].decode(codec, "surrogatepass") for a, b in pairwise(borders)]


# -- items -------------------------------------------------------------------------------------------


@dataclass
class _Part:
    """One item's events in their order, its final form, and what it means."""

    events: list[Event]
    item: Event
    call: tuple[str, str, str, str] | None = None
    is_server: bool = False


@st.composite
def _call_parts(draw: st.DrawFn, index: int, units: bool) -> _Part:
    is_custom = draw(st.booleans())
    text = draw(_words) if is_custom else draw(_object_texts())
    lane, member = (
        ("custom_tool_call_input", "input") if is_custom else ("function_call_arguments", "arguments")
    )
    item = function_item(text, call_id=f"call_{index}", name=f"tool_{index % 2}", id=f"fc_{index}")
    if is_custom:
        item = {key: value for key, value in item.items() if key not in ("status", "arguments")}
        item |= {"type": "custom_tool_call", "input": text}
    place = {"item_id": item["id"], "output_index": index}
    start = item | {member: ""} | ({} if is_custom else {"status": "in_progress"})
    if draw(st.booleans()):  # some gateways say who it is only at the end
        start |= {"call_id": "", "name": ""}
    events: list[Event] = [{"type": "response.output_item.added", "output_index": index, "item": start}]
    for piece in draw(_pieces(text, units)) if draw(st.booleans()) else []:
        events.append({"type": f"response.{lane}.delta", **place, "delta": piece})
    if draw(st.booleans()):
        events.append({"type": f"response.{lane}.done", **place, member: text})
    events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    kind = "custom" if is_custom else "function"
    return _Part(events, item, (item["call_id"], kind, item["name"], text))


@st.composite
def _text_parts(draw: st.DrawFn, index: int, units: bool) -> _Part:
    """A message or a reasoning item with one or two parts."""
    is_message = draw(st.booleans())
    lane = (
        "output_text" if is_message else draw(st.sampled_from(["reasoning_text", "reasoning_summary_text"]))
    )
    counter = "summary_index" if "summary" in lane else "content_index"
    texts = draw(st.lists(_words, min_size=1, max_size=2))
    item: Event
    if is_message:
        item = message_item(*texts, item_id=f"msg_{index}")
    else:
        group, kind = ("summary", "summary_text") if "summary" in lane else ("content", "reasoning_text")
        item = {"id": f"rs_{index}", "type": "reasoning", "encrypted_content": "gAAAA+/=="}
        item |= {"summary": [], group: [{"type": kind, "text": text} for text in texts]}
    start = {"id": item["id"], "type": item["type"], "status": "in_progress"}
    events: list[Event] = [{"type": "response.output_item.added", "output_index": index, "item": start}]
    has_deltas = draw(st.booleans())
    for position, text in enumerate(texts):
        place = {"item_id": item["id"], "output_index": index, counter: position}
        for piece in draw(_pieces(text, units)) if has_deltas else []:
            events.append({"type": f"response.{lane}.delta", **place, "delta": piece})
        if draw(st.booleans()):
            events.append({"type": f"response.{lane}.done", **place, "text": text})
    events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return _Part(events, item)


@st.composite
def _whole_parts(draw: st.DrawFn, index: int, escaped: bool) -> _Part:
    """An item that comes whole: a builtin tool of the client, or something that the server ran."""
    inner = draw(json_objects)
    if draw(st.booleans()):
        item: Event = {
            "id": f"sh_{index}",
            "type": "shell_call",
            "status": "completed",
            "call_id": f"call_{index}",
        }
        item |= {"action": inner}
        text = json.dumps(inner, ensure_ascii=escaped, separators=(",", ":"))
        part = _Part([], item, (f"call_{index}", "builtin", "shell", text))
    else:
        item = {"id": f"ws_{index}", "type": "web_search_call", "status": "completed", "action": inner}
        part = _Part([], item, is_server=True)
    start = {key: value for key, value in item.items() if key != "action"} | {"status": "in_progress"}
    part.events.append({"type": "response.output_item.added", "output_index": index, "item": start})
    if part.is_server:
        part.events.append({"type": "response.web_search_call.searching", "output_index": index})
    part.events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return part


# -- turns -------------------------------------------------------------------------------------------


@dataclass
class Made:
    """A generated stream. calls: (call_id, kind, name, arguments) in the order of their place."""

    data: bytes
    frames: list[bytes]
    events: list[Event]
    calls: list[tuple[str, str, str, str]]
    text: str
    reasoning: str
    status: str
    server_items: int


def _joined(events: list[Event], lanes: tuple[str, ...], item_type: str) -> str:
    """The visible text, by the plainest reading: parts in the order in which their text first came."""
    parts: dict[tuple[int, str, int], str] = {}

    def fill(index: int, lane: str, position: int, text: str) -> None:
        parts[index, lane, position] = parts.get((index, lane, position)) or text

    for event in events:
        kind, index = event["type"], event.get("output_index", 0)
        lane, _, verb = kind.removeprefix("response.").rpartition(".")
        position = int(event.get("summary_index") or event.get("content_index") or 0)
        if lane in lanes and verb == "delta" and event["delta"]:
            parts[index, lane, position] = parts.get((index, lane, position), "") + event["delta"]
        elif lane in lanes and verb == "done":
            fill(index, lane, position, event["text"])
        elif kind == "response.output_item.done" and event["item"]["type"] == item_type:
            for group in ("content", "summary"):
                for at, part in enumerate(event["item"].get(group, ())):
                    names = {"output_text": "output_text", "reasoning_text": "reasoning_text"}
                    fill(index, names.get(part["type"], "reasoning_summary_text"), at, part["text"])
    text = "".join(parts.values())
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def _padded(draw: st.DrawFn, events: list[Event]) -> list[Event]:
    """Keep-alives between them, obfuscation in them, sequence numbers on them - or not."""
    if draw(st.booleans()):
        events = [
            event
            | ({"obfuscation": "Xy9" * draw(st.integers(0, 3))} if event["type"].endswith("delta") else {})
            for event in events
        ]
    for place in draw(st.lists(st.integers(0, len(events) - 1), max_size=2)):
        events = [*events[:place], {"type": "keepalive"}, *events[place:]]
    start = draw(st.none() | st.integers(0, 3))
    if start is None:
        return events
    return [event | {"sequence_number": start + count} for count, event in enumerate(events)]


@st.composite
def turns(draw: st.DrawFn, *, ends: tuple[str, ...] = ("completed",), max_items: int = 4) -> Made:
    """A right stream of several items, their events interleaved."""
    framing = draw(framings)
    units = framing.escaped
    parts: list[_Part] = []
    for index in range(draw(st.integers(0, max_items))):
        makers = [_call_parts(index, units), _text_parts(index, units), _whole_parts(index, units)]
        parts.append(draw(st.one_of(makers)))
    order = draw(st.permutations([at for at, part in enumerate(parts) for _ in part.events]))
    queues = [iter(part.events) for part in parts]
    body = [next(queues[at]) for at in order]
    status = draw(st.sampled_from(ends))
    output = [part.item for part in parts] if draw(st.booleans()) else []
    response: dict[str, Any] = {"id": "resp_1", "status": status, "model": "m", "output": output}
    response |= {"usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}}
    started = {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}
    events = _padded(draw, [started, *body, {"type": f"response.{status}", "response": response}])
    return Made(
        data=wire(events, framing),
        frames=[framing.between + framing.one(event) for event in events],
        events=events,
        calls=[part.call for part in parts if part.call is not None],
        text=_joined(events, ("output_text",), "message"),
        reasoning=_joined(events, ("reasoning_text", "reasoning_summary_text"), "reasoning"),
        status=status,
        server_items=sum(part.is_server for part in parts),
    )


@st.composite
def spoilt(draw: st.DrawFn, *, bits: bool) -> tuple[Made, bytes]:
    """A right stream, and what is left of it after some events were dropped, repeated, swapped or cut.

    bits: single bits may be turned as well.
    """
    made = draw(turns(ends=("completed", "incomplete", "failed")))
    frames = list(made.frames)
    operations = ["drop", "repeat", "swap", "cut", *(["flip"] if bits else [])]
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(frames) - 1))
        match draw(st.sampled_from(operations)):
            case "drop":
                frames[at] = b""
            case "repeat":
                frames.insert(draw(st.integers(at, len(frames))), frames[at])
            case "swap":
                other = draw(st.integers(0, len(frames) - 1))
                frames[at], frames[other] = frames[other], frames[at]
            case "cut":
                frames[at] = frames[at][: draw(st.integers(0, len(frames[at])))]
            case "flip" if frames[at]:
                spot = draw(st.integers(0, len(frames[at]) - 1))
                turned = frames[at][spot] ^ (1 << draw(st.integers(0, 7)))
                frames[at] = frames[at][:spot] + bytes([turned]) + frames[at][spot + 1 :]
    return made, b"".join(frames)
