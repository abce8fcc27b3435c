"""Events that repeat a text or the list of items: read without it, they come to what they come to as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trigate
from streams import codes
from trigate._core import Lane
from trigate.protocols import openai_responses
from trigate.protocols.responses_repeats import MARK, Repeats
from trigate.protocols.responses_wire import Text
from wire_builder import Wire

some = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))

SAID = 'Half of a "number" is\n a number too: \\ 数据 🌦️ '
ASKED = '{"path": "src/x.py", "content": "say(\\"数据\\")\\n"}'
NEVER = 2**62


def read(stream: bytes, least: int, **options: Any) -> tuple[list[trigate.Item], trigate.Response]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_responses, "LEAST", least)
        parser = trigate.ResponseParser("openai-responses", **options)
        items = parser.feed(stream)
        return items, parser.finish()


def check(stream: bytes, **options: Any) -> trigate.Response:
    """The response; the same, item for item, with copies cut out from any length on as without."""
    whole = read(stream, NEVER, **options)
    assert read(stream, 0, **options) == whole
    assert read(stream, 512, **options) == whole
    return whole[1]


def thought(text: str) -> tuple[Wire, dict[str, Any]]:
    """A turn that begins with reasoning, and its item."""
    item: dict[str, Any] = {
        "type": "reasoning",
        "id": "rs_0",
        "summary": [{"type": "summary_text", "text": text}],
    }
    place: dict[str, Any] = {"output_index": 0, "item_id": "rs_0", "summary_index": 0}
    wire = Wire().add("response.output_item.added", output_index=0, item=item | {"summary": []})
    for at in range(0, len(text), 5):
        wire.add("response.reasoning_summary_text.delta", **place, delta=text[at : at + 5])
    wire.add("response.reasoning_summary_text.done", **place, text=text)
    return wire, item


def turn() -> Wire:
    wire, item = thought(SAID * 20)
    return wire.done(item).text(*[SAID] * 40).call(*ASKED).call('{"n":', '"' + "x" * 2000 + '"}').complete()


class Counted(Repeats):
    """Counts the events that were read without what they repeat."""

    cut = 0

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in ("read", "read_item", "read_end"):
            return found

        def counted(*told: Any) -> Any:
            made = found(*told)
            Counted.cut += made is not None
            return made

        return counted


def test_the_copies_of_an_ordinary_turn_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ends of two texts and of two arguments, of four items, and of the response: each of them is cut."""
    monkeypatch.setattr(openai_responses, "Repeats", Counted)
    response = check(turn().stream)
    assert (response.status, codes(response), response.text) == ("completed", [], SAID * 40)
    assert Counted.cut == 9 + 7  # from any length on, and from 512: the first call's two copies are shorter
    assert [call.value()["content"] for call in response.released[:1]] == ['say("数据")\n']


def test_the_items_are_kept_as_they_came() -> None:
    stream = turn().stream
    response = check(stream)
    assert json.loads(response.echo[0])["summary"][0]["text"] == SAID * 20
    assert json.loads(response.echo[1])["content"][0]["text"] == SAID * 40
    assert all(raw in stream for raw in response.echo)


def compacted(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def as_escaped(data: bytes) -> bytes:
    return json.dumps(json.loads(data)).encode()


def as_spaced(data: bytes) -> bytes:
    return json.dumps(json.loads(data), ensure_ascii=False).encode()


def with_slashes(data: bytes) -> bytes:
    return data.replace(b"src/x.py", b"src\\/x.py").replace(b"number too", b"n\\u0075mber too")


def with_other_text(data: bytes) -> bytes:
    return data.replace(b"number too", b"number two").replace(b"src/x.py", b"src/y.py")


def with_less(data: bytes) -> bytes:
    return data.replace(SAID.encode().split(b"\n")[0][:4], b"", 1)


def with_mark(data: bytes) -> bytes:
    return data.replace(b'"type":"response.', f'"extra":"{MARK}","type":"response.'.encode())


def with_escaped_mark(data: bytes) -> bytes:
    return data.replace(b'"type":"response.', b'"extra":"\\uFDD0","type":"response.')


def with_twice(data: bytes) -> bytes:
    return data[:-1] + b',"text":"other","arguments":"{}"}'


def with_number(data: bytes) -> bytes:
    return data[:-1] + b',"text":7,"arguments":7}'


def broken(data: bytes) -> bytes:
    return data[:-1] + b",}"


def with_odd_name(data: bytes) -> bytes:
    return data.replace(b'"text":"Half', b'"te\\"text":"Half').replace(b'"output":[', b'"odd\\"output":[')


def with_more_items(data: bytes) -> bytes:
    return data.replace(b'"output":[', b'"output":[{"type":"message","id":"new","status":"completed"},')


def with_fewer_items(data: bytes) -> bytes:
    value = json.loads(data)
    if value.get("response", {}).get("output"):
        value["response"]["output"].pop()
    return compacted(value)


def with_other_order(data: bytes) -> bytes:
    value = json.loads(data)
    if value.get("response", {}).get("output"):
        value["response"]["output"].reverse()
    return compacted(value)


CHANGES: list[Callable[[bytes], bytes]] = [
    as_escaped,
    as_spaced,
    with_slashes,
    with_other_text,
    with_less,
    with_mark,
    with_escaped_mark,
    with_twice,
    with_number,
    broken,
    with_odd_name,
    with_more_items,
    with_fewer_items,
    with_other_order,
]
COPIES = (
    "response.reasoning_summary_text.done",
    "response.output_text.done",
    "response.function_call_arguments.done",
    "response.output_item.done",
    "response.completed",
)


def changed(stream: bytes, kinds: tuple[str, ...], change: Callable[[bytes], bytes]) -> bytes:
    made = []
    for block in stream.split(b"\n\n"):
        head, found, data = block.partition(b"data: ")
        if found and any(kind.encode() in head for kind in kinds):
            data = change(data)
        made.append(head + found + data)
    return b"\n\n".join(made)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kinds", [*[(kind,) for kind in COPIES], COPIES], ids=lambda kinds: kinds[0][9:])
@pytest.mark.parametrize("options", [{}, {"release_on": "call"}, {"lenient": ("utf8",)}], ids=str)
def test_a_copy_that_is_written_otherwise(
    kinds: tuple[str, ...], change: Callable[[bytes], bytes], options: dict[str, Any]
) -> None:
    check(changed(turn().stream, kinds, change), **options)


def test_a_copy_that_differs_is_told_as_ever() -> None:
    other = check(changed(turn().stream, ("response.function_call_arguments.done",), with_other_text))
    assert other.status == "conflict"
    assert other.error is not None
    assert other.error.code == "arguments_differ"
    text = check(changed(turn().stream, ("response.output_text.done",), with_other_text))
    assert codes(text) == ["text_differs"]


def test_half_a_character_at_the_end_of_the_pieces() -> None:
    for last, copy in (("\ud83c", "\\ud83c"), ("\ud83c", "\ufffd"), ("\ufffd", "\\ud83c"), ("", "")):
        place: dict[str, Any] = {"output_index": 0, "item_id": "msg_0", "content_index": 0}
        item: dict[str, Any] = {"type": "message", "id": "msg_0", "status": "completed"}
        wire = Wire().add("response.output_item.added", output_index=0, item=item | {"content": []})
        wire.add("response.output_text.delta", **place, delta=SAID * 30)
        wire.add("response.output_text.delta", **place, delta="LAST")
        wire.add("response.output_text.done", **place, text=SAID * 30 + "COPY")
        wire.done(item | {"content": [{"type": "output_text", "text": SAID * 30 + "COPY"}]}).complete()
        lone = json.dumps(last)[1:-1].encode()
        check(wire.stream.replace(b"LAST", lone).replace(b"COPY", copy.encode()))


@some
@given(st.text(max_size=30), st.text(max_size=30), st.booleans(), st.integers(0, 40))
def test_the_end_of_a_copy(said: str, copy: str, is_ascii: bool, before: int) -> None:
    """Found where the JSON string says the text, whichever way it is written, and nowhere else."""
    lane = Lane(said)
    for told in (said, copy):
        data = b"x" * before + json.dumps(told, ensure_ascii=is_ascii).encode()
        end = lane.end_of_copy(data + b',"more"', before)
        assert end == (len(data) if told == said else -1)
        assert lane.end_of_copy(data[:-1], before) == -1
        assert lane.end_of_copy(data, len(data)) == -1


def test_what_is_no_json_string_is_no_copy() -> None:
    for text, data in (
        ("a\nb", b'"a\nb"'),
        ("a\\", b'"a\\"'),
        ("a\\n", b'"a\\n"'),
        ("a\\x", b'"a\\x"'),
        ("\ud83d", b'"\\ud83d"'),
        ("\ud83d\ude00", b'"\\ud83d\\ude00"'),
        ("a", b"a"),
        ("", b""),
    ):
        assert Lane(text).end_of_copy(data, 0) == -1


def test_a_text_that_went_on_is_compared_anew() -> None:
    lane = Lane()
    repeats = Repeats()
    repeats.expect(lane, "text")
    lane.append("ab")
    assert repeats.read(b'{"text":"ab"}', Text) == Text(text="ab")
    lane.append("c")
    assert repeats.read(b'{"text":"ab"}', Text) is None
    assert repeats.read(b'{"text":"abc"}', Text) == Text(text="abc")
    repeats.expect(Lane("x"), "text")
    assert repeats.read(b'{"text":"abc"}', Text) is None
