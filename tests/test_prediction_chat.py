"""Chat Completions, where much hangs on what came before: what stands beside a piece, and what comes behind the pieces.

Rules
 - As in test_prediction_state: deltas that are taken unread, and behind them an event on which a stale memory would
   show.
"""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from openai_chat_streams import DONE, PROTOCOL, chunk, codes, delta, finish, piece, text, tools, usage, wire
from prediction_pairs import read


def chat(*chunks: Any, least: int = 1, **options: Any) -> trigate.Response:
    return read(PROTOCOL, [wire(each) for each in chunks], least, **options)


def head(index: Any = 0, call_id: Any = "a", name: Any = "f", arguments: Any = "") -> Any:
    place = {} if index is None else {"index": index}
    return tools(piece(arguments, name, id=call_id, type="function", **place))


def part(arguments: str, index: Any = 0, **members: Any) -> Any:
    return tools(piece(arguments, **({} if index is None else {"index": index}), **members))


def parts(*arguments: str, index: Any = 0) -> list[Any]:
    return [part(each, index) for each in arguments]


# -- openai-chat: text -----------------------------------------------------------------------------------


def test_a_finish_beside_text_closes_the_lane() -> None:
    response = chat(*map(text, "abc"), delta(end="stop", content="d"), text("e"), DONE)
    assert response.status == "conflict"
    assert codes(response) == ["delta_after_close"]
    assert response.text == "abcde"


@pytest.mark.parametrize("word", ["stop", "length", "odd"])
@pytest.mark.parametrize("member", ["content", "reasoning_content", "refusal"])
def test_a_finish_beside_any_text(member: str, word: str) -> None:
    runs = [delta(**{each: "x"}) for each in ("content", "refusal") for _ in range(3)]
    odd = delta(end=word, **{member: "y"})
    for behind in (runs, runs[::-1]):
        chat(*runs, odd, *behind, text("z"), finish("stop"), DONE, least=2)


@pytest.mark.parametrize(
    "members",
    [
        {"native_finish_reason": "length"},
        {"usage": {"completion_tokens": 5}},
        {"logprobs": {"content": []}},
        {"error": {"message": "busy"}},
        {"unknown": 1},
        {"text": "t"},
    ],
    ids=lambda members: next(iter(members)),
)
def test_more_beside_text(members: dict[str, Any]) -> None:
    odd = chunk({"index": 0, "delta": {"content": "x"}, "finish_reason": None} | members)
    chat(*map(text, "abc"), odd, *map(text, "def"), finish("stop"), DONE)


@pytest.mark.parametrize(
    "member", ["id", "model", "created", "object", "usage", "x_groq", "error", "service_tier"]
)
@pytest.mark.parametrize("value", [None, "", "other", 0, 5, {}, {"usage": {"completion_tokens": 4}}], ids=str)
def test_another_head_of_a_chunk(member: str, value: Any) -> None:
    odd = text("x") | {member: value}
    chat(*map(text, "abc"), odd, odd, *map(text, "def"), odd, finish("stop"), DONE)


def test_reasoning_behind_the_finish_is_told_once() -> None:
    late = [delta(reasoning="r") for _ in range(5)]
    response = chat(*map(text, "ab"), finish("stop"), *late, DONE, least=3)
    assert codes(response) == ["reasoning_after_finish"]
    assert response.reasoning == "rrrrr"


def test_a_content_list_gives_later_texts_a_place() -> None:
    listed = delta(content=[{"type": "thinking", "thinking": "t"}])
    response = chat(*map(text, "abc"), listed, *map(text, "def"), finish("stop"), DONE, least=1)
    assert response.to_message()["content"][-1]["text"] == "def"


def test_reasoning_under_two_names() -> None:
    first = [delta(reasoning_content="a") for _ in range(3)]
    second = [delta(reasoning="b") for _ in range(3)]
    twice = [delta(reasoning_content="c", reasoning="d") for _ in range(3)]
    response = chat(*first, *second, *twice, *first, finish("stop"), DONE, least=3)
    assert response.reasoning == "aaabbbcccaaa"
    assert codes(response) == ["reasoning_differs"]


def test_choices_take_turns() -> None:
    mixed = [text("ab"[choice], choice) for _ in range(6) for choice in (0, 1)]
    response = chat(*mixed, finish("stop", 0), finish("length", 1), DONE, least=8)
    assert response.texts == ("aaaaaa", "bbbbbb")


def test_a_choice_without_an_index() -> None:
    bare = [chunk({"delta": {"content": "x"}, "finish_reason": None}) for _ in range(4)]
    response = chat(*map(text, "abc"), *bare, finish("stop"), DONE, least=3)
    assert codes(response) == ["missing_index"]


# -- openai-chat: calls ----------------------------------------------------------------------------------


def test_the_last_call_where_calls_have_no_index() -> None:
    """A fragment with nothing goes to the call that was fed last, if that is the last one."""
    mixed = [*parts("{", index=0), *parts("{", index=1), *parts("}", index=0)]
    bare = part("}", None)
    for order in (mixed, mixed[::-1], [*mixed, *mixed]):
        chat(head(None, "a"), head(None, "b"), *order, bare, finish(), DONE, least=0)
    response = chat(head(None, "a"), head(None, "b"), *mixed, bare, finish(), DONE, least=0)
    assert response.status == "conflict"


@pytest.mark.parametrize("last", [0, 1])
def test_a_name_without_an_index_is_the_last_call_s(last: int) -> None:
    """If it has none yet; else the name is another call's."""
    heads = [head(0, "a", None), head(1, "b", "g")]
    mixed = [part("{", 0), part("{", 1), part(" ", 1 - last), part(" ", 1 - last), part(" ", last)]
    named = tools(piece("}", "f"))
    response = chat(*heads, *mixed, named, *mixed, finish(), DONE, least=0)
    assert len(response.calls) == 2 + last


@pytest.mark.parametrize("ids", ["112", "11221", "112212", "1122122", "221", "2", "1"])
def test_whose_calls_come_behind_texts(ids: str) -> None:
    """A call in a chunk without an id is of the response that spoke last: under another one it is a restart."""
    texts = [text("x") | {"id": f"c{each}"} for each in ids]
    first = [each | {"id": "c1"} for each in (head(), part("{}"))]
    later = [each | {"id": None} for each in (head(0, "b"), part("{}"))]
    response = chat(*first, *texts, *later, *texts, finish(), DONE, least=0)
    assert ("response_restarted" in codes(response)) == (ids[-1] == "2")


def test_one_call_without_an_index() -> None:
    bare = [part(each, None) for each in ("{", '"a"', ":", "1", "}")]
    response = chat(head(None), *bare, finish(), DONE, least=3)
    assert [call.arguments for call in response.released] == ['{"a":1}']
    response = chat(head(None), *bare, head(None, "b"), *bare, finish(), DONE, least=3)
    assert [call.arguments for call in response.released] == ['{"a":1}'] * 2


def test_another_slot_beside_a_piece() -> None:
    """An event that is a piece for one call, and opens a place for another: who has no index is then nobody's."""
    bare = [part(" ", None)] * 4
    opens = tools({"index": 3, "extra_content": {"a": 1}}, piece("x", index=0))
    names = tools(piece("", index=1, id="b"), piece("x", index=0))
    for odd in (opens, names):
        response = chat(head(), *bare, odd, *bare, finish(), DONE, least=2)
        assert response.status == "conflict"


@pytest.mark.parametrize(
    "odd",
    [
        part("{", id="x"),
        part("{", id="a"),
        part("{", id=""),
        head(0, "b"),
        head(0, "a"),
        head(0, "a", arguments='{"a":1}'),
        head(0, "a", "g"),
        head(0, None, "g", "{"),
        head(1, "a"),
        head(None, "a"),
        part('{"a":1}', extra_content={"s": 1}),
        part("{", type="custom"),
        part("{", type="other"),
        tools({"index": 0, "custom": {"input": "x"}}),
        delta(function_call={"name": "f", "arguments": "{"}),
        tools(piece({"a": 1}, index=0)),
        tools(piece("", index=0)),
        tools(piece("{", index=0), piece("}", index=0)),
        delta(content="x"),
        usage(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("whole", [True, False])
def test_anything_behind_predicted_pieces(odd: Any, whole: bool) -> None:
    """The size, the text and the last byte of a call are those of all its pieces."""
    begun = parts("{", '"a"', ":", "1", *("}" if whole else ""))
    for again in (parts("{", "}", "}"), parts("1", "}"), []):
        for first in (head(), head(arguments="{}"), head(arguments=" ")):
            chat(first, *begun, odd, *again, odd, *again, finish(), DONE, least=0)


@pytest.mark.parametrize("foreign", ["x", ""])
def test_an_object_behind_an_object_whose_id_had_changed(foreign: str) -> None:
    """Then every piece may begin the call anew, so that each is looked at."""
    response = chat(
        head(), part("{"), part(" ", id=foreign), *parts(" ", "}", "{", "}"), finish(), DONE, least=0
    )
    assert (response.status == "conflict") == bool(foreign)


def test_a_placeholder_before_the_pieces() -> None:
    response = chat(head(arguments="{}"), *parts("{", '"a"', ":", "1", "}"), finish(), DONE, least=2)
    assert [call.arguments for call in response.released] == ['{"a":1}']
    assert response.calls[0].flags == ("placeholder_dropped",)


def test_a_whole_text_that_comes_again() -> None:
    pieces = parts("{", '"a"', ":", "1", "}")
    response = chat(head(), *pieces, head(arguments='{"a":1}'), finish(), DONE, least=3)
    assert response.calls[0].flags == ("snapshot_repeated",)
    response = chat(head(), *pieces, head(arguments="{"), *pieces[1:], finish(), DONE, least=3)
    assert response.status == "conflict"


def test_a_call_begins_anew_under_another_response() -> None:
    later = [each | {"id": "c2"} for each in (head(0, "b"), *parts("{", "}", "}"))]
    response = chat(head(), *parts("{", " ", " ", "}"), *later, finish(), DONE, least=2)
    assert "response_restarted" in codes(response)


@pytest.mark.parametrize("ids", ["wire", "generate"])
@pytest.mark.parametrize("created", [0, 7, None, ..., ""], ids=str)
def test_where_a_response_without_an_id_came_from(ids: str, created: Any) -> None:
    """A generated id is made of the first `created` that is one, however many came before it."""

    def bare(step: Any, number: Any) -> Any:
        told = step | {"id": None, "created": number}
        return {name: value for name, value in told.items() if value is not ...}

    steps = [head(call_id=None), *parts("{", " ", " ", " ", "}"), finish()]
    numbers = [created, created, created, 0, 8, 9, 10]
    chat(*map(bare, steps, numbers), DONE, least=0, ids=ids)
    chat(*map(bare, [*map(text, "abc"), *steps], [created] * 4 + numbers[:6]), DONE, least=0, ids=ids)


@pytest.mark.parametrize("count", [2, 3, 7, 8, 9, 12, 33, 40])
def test_parallel_calls_take_turns(count: int) -> None:
    """More than templates are kept, and more than lanes can be open."""
    heads = [head(number, f"id{number}") for number in range(count)]
    arguments = ['{"n"', ":", "1", "2", "3", "4", "}"]
    for turns in (
        [part(each, number) for each in arguments for number in range(count)],
        [part(each, number) for number in range(count) for each in arguments],
    ):
        response = chat(*heads, *turns, finish(), DONE, least=0)
        assert [call.arguments for call in response.released] == ['{"n":1234}'] * count


def test_room_is_less_by_what_was_read() -> None:
    """One call's pieces in two spellings: what the one takes, the other cannot have."""
    for size in range(1, 8):
        pieces = [part("x"), part("y"), part("z" * 4, type="function"), part("w" * size)]
        limits = trigate.Limits(max_arguments_bytes=10)
        response = chat(head(), *pieces, finish(), DONE, limits=limits)
        assert (response.status == "failed") == (size > 4)


# -- text that is replaced -------------------------------------------------------------------------------


def test_an_event_whose_text_was_replaced_is_learned_as_it_reads() -> None:
    """Ill-formed UTF-8 in the first event of its like: its frame is not what the event says."""
    bad = wire(text("X")).replace(b"X", b"a\xff")
    for frames in (
        [bad],
        [wire(text("a")), bad],
        [bad, bad, bad],
        [wire(text("a")), bad, wire(text("b")), bad],
    ):
        stream = [*frames, wire(text("c")), wire(text("d")), *frames, wire(finish("stop")), wire(DONE)]
        response = read(PROTOCOL, stream, 1, lenient=("utf8",))
        assert response.text.count("a\ufffd") == 2 * frames.count(bad)
        assert read(PROTOCOL, stream, 0).status == "failed"
