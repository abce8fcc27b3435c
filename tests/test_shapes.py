"""Shapes: which events are nothing but a piece of text, where in them the holes are, and what no such event may hold.

Rules
 - Every shape of every protocol has an example here; a shape that is added without one fails a test.
 - Whatever says more than a piece takes an event out of its shape: each member filled, one added, lost or doubled.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from prediction_wire import write
from trigate._core import Shapes
from trigate.protocols.registry import PROTOCOLS
from trigate.protocols.shapes import EMPTY, FIXED, IGNORED, SEQUENCE, TEXT, Place, shapes

Step = dict[str, Any]


class Example(NamedTuple):
    """An event in a shape. number: the shape's. holes: what stands in them, in the order of the event."""

    protocol: str
    number: int
    event: Step
    holes: list[str]


def _chunk(choice: Step) -> Step:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 12, "model": "m", "usage": None}
    return head | {"choices": [{"index": 0, "finish_reason": None, **choice}], "obfuscation": "pad"}


def _fragment(**body: Any) -> Step:
    return {"delta": {"role": "assistant", "content": None, "tool_calls": [{"index": 0, "id": "a", **body}]}}


def _responses(kind: str, **members: Any) -> Step:
    head = {"type": f"response.{kind}.delta", "sequence_number": 41, "item_id": "i", "output_index": 0}
    return head | members | {"delta": "HOLE", "obfuscation": "pad"}


def _anthropic(kind: str, member: str) -> Step:
    return {"type": "content_block_delta", "index": 1, "delta": {"type": kind, member: "HOLE"}}


def _ollama(**members: Any) -> Step:
    return {"model": "m", "created_at": "when", **members, "done": False}


def _gemini(**part: Any) -> Step:
    candidate = {"content": {"parts": [{"text": "HOLE", **part}], "role": "model"}, "index": 0}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 12}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "g", "createTime": "when"}


def _cohere(kind: str, **message: Any) -> Step:
    return {"type": f"{kind}-delta", "index": 0, "delta": {"message": message}}


def _converse(**delta: Any) -> Step:
    return {"contentBlockIndex": 0, "delta": delta, "p": "pad"}


_PADDED = ["12", "HOLE", "pad"]
EXAMPLES = [
    Example(
        "openai-chat", 0, _chunk({"delta": {"content": "HOLE", "refusal": None, "tool_calls": []}}), _PADDED
    ),
    Example(
        "openai-chat", 0, _chunk({"text": "t", "delta": {"content": "HOLE"}}), ["12", "t", "HOLE", "pad"]
    ),
    Example("openai-chat", 1, _chunk({"delta": {"content": "", "reasoning_content": "HOLE"}}), _PADDED),
    Example("openai-chat", 2, _chunk({"delta": {"content": None, "reasoning": "HOLE"}}), _PADDED),
    Example("openai-chat", 3, _chunk({"logprobs": None, "delta": {"refusal": "HOLE"}}), _PADDED),
    Example("openai-chat", 4, _chunk(_fragment(function={"name": None, "arguments": "HOLE"})), _PADDED),
    Example("openai-chat", 5, _chunk(_fragment(type="custom", custom={"input": "HOLE"})), _PADDED),
    Example("openai-chat", 6, _chunk({"text": "HOLE"}), _PADDED),
    Example(
        "openai-responses",
        0,
        _responses("output_text", content_index=0, logprobs=[{"a": 1}]),
        ["41", "HOLE", "pad"],
    ),
    Example("openai-responses", 1, _responses("refusal", content_index=0), ["41", "HOLE", "pad"]),
    Example("openai-responses", 2, _responses("reasoning_text", content_index=0), ["41", "HOLE", "pad"]),
    Example(
        "openai-responses", 3, _responses("reasoning_summary_text", summary_index=0), ["41", "HOLE", "pad"]
    ),
    Example("openai-responses", 4, _responses("function_call_arguments"), ["41", "HOLE", "pad"]),
    Example("openai-responses", 5, _responses("custom_tool_call_input"), ["41", "HOLE", "pad"]),
    Example("anthropic-messages", 0, _anthropic("text_delta", "text"), ["HOLE"]),
    Example("anthropic-messages", 1, _anthropic("thinking_delta", "thinking"), ["HOLE"]),
    Example("anthropic-messages", 2, _anthropic("input_json_delta", "partial_json"), ["HOLE"]),
    Example(
        "gemini-interactions",
        0,
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "HOLE"}},
        ["HOLE"],
    ),
    Example(
        "gemini-interactions",
        1,
        {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": "HOLE"}},
        ["HOLE"],
    ),
    Example("ollama-chat", 0, _ollama(message={"role": "assistant", "content": "HOLE"}), ["when", "HOLE"]),
    Example("ollama-chat", 1, _ollama(message={"content": "", "thinking": "HOLE"}), ["when", "HOLE"]),
    Example("ollama-chat", 2, _ollama(response="HOLE", thinking=None), ["when", "HOLE"]),
    Example("ollama-chat", 3, _ollama(response="", thinking="HOLE"), ["when", "HOLE"]),
    Example("bedrock-converse", 0, _converse(text="HOLE"), ["HOLE", "pad"]),
    Example("bedrock-converse", 1, _converse(reasoningContent={"text": "HOLE"}), ["HOLE", "pad"]),
    Example("bedrock-converse", 2, _converse(toolUse={"input": "HOLE"}), ["HOLE", "pad"]),
    Example("cohere-chat", 0, _cohere("content", content={"text": "HOLE"}), ["HOLE"]),
    Example("cohere-chat", 1, _cohere("content", content={"text": "", "thinking": "HOLE"}), ["HOLE"]),
    Example("cohere-chat", 2, _cohere("tool-plan", tool_plan="HOLE"), ["HOLE"]),
    Example("gemini", 0, _gemini(), ["HOLE", "5", "12", "when"]),
    Example("gemini", 1, _gemini(thought=True), ["HOLE", "5", "12", "when"]),
    Example("cohere-chat", 3, _cohere("tool-call", tool_calls={"function": {"arguments": "HOLE"}}), ["HOLE"]),
]
examples = pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.protocol}-{one.number}")


def of(protocol: str) -> Shapes:
    found = PROTOCOLS[protocol].shapes
    assert found is not None
    return found


def holes(protocol: str, data: bytes) -> tuple[int, list[str]] | None:
    """The shape's number, and what stands in the holes."""
    found = of(protocol).pick(data)
    return None if found is None else (found[0], [data[at : at + size].decode() for at, size in found[1]])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each object in a value."""
    if isinstance(value, dict):
        yield path
        for name, inner in value.items():
            yield from places(inner, (*path, name))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from places(inner, (*path, at))


def changed(event: Step, path: tuple[Any, ...], **members: Any) -> Step:
    """A copy in which the object at the path has these members; ... takes one away."""
    copy: Step = json.loads(json.dumps(event))
    inner = copy
    for name in path:
        inner = inner[name]
    for name, value in members.items():
        if value is ...:
            del inner[name]
        else:
            inner[name] = value
    return copy


# -- the shapes of the protocols -------------------------------------------------------------------------


@examples
def test_holes(example: Example) -> None:
    due = (example.number, example.holes)
    assert holes(example.protocol, write(example.event)) == due
    assert holes(example.protocol, write(example.event, spaced=True)) == due
    assert holes(example.protocol, json.dumps(example.event, indent=2).encode()) == due
    assert holes(example.protocol, b" \t\r\n" + write(example.event) + b"\n ") == due


@examples
def test_members_in_another_order(example: Example) -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: turned(value[name]) for name in reversed(value)}
        return [turned(inner) for inner in value] if isinstance(value, list) else value

    found = holes(example.protocol, write(turned(example.event)))
    assert found is not None
    assert found[0] == example.number
    assert sorted(found[1]) == sorted(example.holes)


def test_every_shape_has_an_example() -> None:
    for protocol, reader in PROTOCOLS.items():
        numbers = {example.number for example in EXAMPLES if example.protocol == protocol}
        assert (reader.shapes is None) == (not numbers)
        assert numbers == set(range(len(numbers)))
    # That the numbers are all: one more shape would be found by its own event, and has none here.
    counts = {"openai-chat": 7, "openai-responses": 6, "anthropic-messages": 3, "gemini-interactions": 2}
    counts |= {"ollama-chat": 4, "bedrock-converse": 3, "cohere-chat": 4, "gemini": 2}
    assert counts == {
        protocol: 1 + max(example.number for example in EXAMPLES if example.protocol == protocol)
        for protocol in counts
    }


#: Members that say more than a piece. Where a shape has one of them as its text, that is left as it is.
TELLING: Step = {
    "finish_reason": "stop",
    "finishReason": "STOP",
    "functionCall": {"name": "f"},
    "thoughtSignature": "s",
    "native_finish_reason": "stop",
    "stop_reason": "end_turn",
    "done_reason": "stop",
    "error": {"message": "busy"},
    "usage": {"output_tokens": 1},
    "name": "f",
    "unknown": 1,
    "x": None,
    "": "",
    "reasoning_details": [{"type": "reasoning.text", "text": "t"}],
    "function_call": {"name": "f"},
    "images": ["x"],
    "signature": "s",
    "event_id": "e1",
    "citations": [],
    "extra_content": {"a": 1},
    "x_groq": {"usage": {}},
    "message": "busy",
    "detail": "busy",
}


@examples
@pytest.mark.parametrize("name", TELLING)
def test_what_says_more_is_in_no_shape(example: Example, name: str) -> None:
    """At every level of the event."""
    for path in places(example.event):
        if "logprobs" in path:
            continue  # any value, the same each time
        if name == "message" and path == () and "message" in example.event:
            continue
        assert holes(example.protocol, write(changed(example.event, path, **{name: TELLING[name]}))) is None


@examples
def test_the_text_is_a_string_that_must_be_there(example: Example) -> None:
    for path in places(example.event):
        inner: Any = example.event
        for step in path:
            inner = inner[step]
        for name, value in list(inner.items()):
            if value == "HOLE":
                for other in (..., None, 1, True, [], {}, ["HOLE"], {"text": "HOLE"}, 1.5):
                    found = holes(example.protocol, write(changed(example.event, path, **{name: other})))
                    assert (
                        found is None or found[0] != example.number
                    )  # an empty text of another shape is left
                found = holes(example.protocol, write(changed(example.event, path, **{name: 'a"\\é\n'})))
                assert found is not None
                assert 'a\\"\\\\é\\n' in found[1]


@examples
def test_a_member_that_comes_twice(example: Example) -> None:
    data = write(example.event)
    for name in (b"delta", b"message", b"choices", b"index", b"text", b"created", b"type"):
        member = b'"%s":' % name
        escaped = b'"\\u%04x%s":' % (name[0], name[1:])
        for again in (member + b"0,", member + b"null,", escaped + b"null,"):
            if member in data:
                assert holes(example.protocol, data.replace(member, again + member, 1)) is None


@examples
def test_a_name_in_another_spelling(example: Example) -> None:
    """It is the same member to a reader, so that nothing but a reader may judge it."""
    data = write(example.event)
    for name in (b"delta", b"message", b"choices", b"index", b"text", b"created", b"type"):
        member, escaped = b'"%s":' % name, b'"\\u%04x%s":' % (name[0], name[1:])
        if member in data:
            assert holes(example.protocol, data.replace(member, escaped, 1)) is None


@examples
def test_a_literal_is_this_text_alone(example: Example) -> None:
    for name in ("type", "event_type", "done"):
        if name in example.event:
            spelt = write(example.event[name])
            for other in (
                b'"other"',
                b"null",
                b"1",
                b"true",
                b'"\\u0061"',
                b'"' + spelt + b'"',
                b"[%s]" % spelt,
            ):
                data = write(example.event).replace(
                    b'"%s":%s' % (name.encode(), spelt), b'"%s":%s' % (name.encode(), other)
                )
                assert holes(example.protocol, data) is None
            assert holes(example.protocol, write(changed(example.event, (), **{name: ...}))) is None


@examples
def test_broken_json_is_safe(example: Example) -> None:
    """A pick is no judge of JSON, but it must come back from anything."""
    data = write(example.event)
    for at in range(len(data)):
        of(example.protocol).pick(data[:at])
        of(example.protocol).pick(data[:at] + data[at + 1 :])
        for byte in b'{}[],:"\\ 0\x00\xff':
            of(example.protocol).pick(data[:at] + bytes([byte]) + data[at:])
    for end in (b",", b"}", b"]", b"x", b"\x00", b"{}"):
        assert holes(example.protocol, data + end) is None


# -- shapes of one's own ---------------------------------------------------------------------------------


def pick(declared: dict[str, Place], event: Any) -> list[str] | None:
    data = event if isinstance(event, bytes) else write(event)
    found = shapes(declared).pick(data)
    return None if found is None else [data[at : at + size].decode() for at, size in found[1]]


def test_roles() -> None:
    text: dict[str, Place] = {"t": TEXT}
    assert pick(text, {"t": "a"}) == ["a"]
    assert pick(text, {"t": ""}) == [""]
    assert pick(text, {}) is None
    for fixed in (1, -1.5, "x", None, True, [1, [2]], {"a": {"b": "}"}}, [], {}):
        assert pick(text | {"f": FIXED}, {"t": "a", "f": fixed}) == ["a"]
        assert pick(text | {"f": FIXED}, {"f": fixed, "t": "a"}) == ["a"]
    assert pick(text | {"f": FIXED}, {"t": "a"}) == ["a"]
    nothing: list[Any] = [None, "", [], {}]
    for empty in nothing:
        assert pick(text | {"e": EMPTY}, {"t": "a", "e": empty}) == ["a"]
    for full in (0, False, "x", [None], {"a": None}, " "):
        assert pick(text | {"e": EMPTY}, {"t": "a", "e": full}) is None


def test_numbers() -> None:
    declared: dict[str, Place] = {"t": TEXT, "n": SEQUENCE, "i": IGNORED}
    for number in (b"0", b"7", b"123456789012345678901234567890"):
        assert pick(declared, b'{"n":%s,"t":"a"}' % number) == [number.decode(), "a"]
        assert pick(declared, b'{"t":"a","i":%s}' % number) == ["a", number.decode()]
    assert pick(declared, b'{"t":"a","i":-7}') == ["a", "-7"]
    assert pick(declared, b'{"t":"a","i":"x\\"y"}') == ["a", 'x\\"y']
    for number in (b"1.0", b"1e3", b'"1"', b"null", b"true", b"[]", b"{}", b"-", b"+1"):
        assert pick(declared, b'{"n":%s,"t":"a"}' % number) is None
    for value in (b"1.0", b"null", b"true", b"[]", b"{}", b"-"):
        assert pick(declared, b'{"i":%s,"t":"a"}' % value) is None


def test_arrays_have_one_element() -> None:
    declared: dict[str, Place] = {"a": [{"t": TEXT}]}
    assert pick(declared, {"a": [{"t": "x"}]}) == ["x"]
    for other in ([], [{"t": "x"}, {"t": "y"}], [["t"]], {"t": "x"}, [{"t": "x"}, 1], "x"):
        assert pick(declared, {"a": other}) is None
    assert pick({"a": [TEXT]}, {"a": ["x"]}) == ["x"]


def test_an_event_in_two_shapes_is_in_none() -> None:
    found = shapes({"t": TEXT, "f": FIXED}, {"t": TEXT, "e": EMPTY})
    assert found.pick(b'{"t":"a","f":1}') == (0, [(6, 1)])
    assert found.pick(b'{"t":"a","e":null}') == (1, [(6, 1)])
    assert found.pick(b'{"t":"a"}') is None


def test_no_shapes() -> None:
    assert Shapes([]).pick(b'{"t":"a"}') is None
    assert shapes({"t": TEXT}).pick(b"") is None
    assert shapes({"t": TEXT}).pick(b"[]") is None


def test_bounds() -> None:
    many = [{f"t{number}": TEXT} for number in range(33)]
    assert shapes(*many[:32]).pick(b'{"t31":"a"}') == (31, [(8, 1)])
    with pytest.raises(ValueError, match="too many shapes"):
        shapes(*many)
    with pytest.raises(ValueError, match="no room"):
        shapes({f"f{number}": FIXED for number in range(200)})
    with pytest.raises(ValueError, match="no room"):
        shapes({"x" * 5000: TEXT})
    deep: Place = TEXT
    for _ in range(20):
        deep = {"a": deep}
    with pytest.raises(ValueError, match=r"no room|too deep"):
        shapes({"a": deep})
    wide: dict[str, Place] = {f"i{number}": IGNORED for number in range(9)}
    assert shapes({"t": TEXT, **wide}).pick(write({"t": "a", **dict.fromkeys(wide, 1)})) is None
    with pytest.raises(KeyError):
        Shapes([[(("a",), "odd", b"")]])
