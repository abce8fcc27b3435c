"""A real server's streams, read while it writes them: llama.cpp with a small model, over its three APIs.

Where the server does what its API forbids, the test says so, and asserts what is true and safe.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import TypeAlias

import pytest
from asking import APIS, Api, Ask, answer, pieces
from live_turns import CUT, CUT_IN_SECOND, GOOD, TEXT, TWO, Taken, take
from plain import events, streamed, whole

import trigate

Taker: TypeAlias = Callable[[Api, Ask], Taken]
every_api = pytest.mark.parametrize("api", APIS, ids=lambda api: api.protocol)
RESPONSES = "openai-responses"
TURNS = {"good": GOOD, "cut": CUT, "text": TEXT, "two": TWO, "cut in second": CUT_IN_SECOND}


@pytest.fixture(scope="session")
def taken(address: tuple[str, int]) -> Taker:
    """Each turn of each API is asked for once."""
    kept: dict[tuple[str, Ask], Taken] = {}

    def ask_once(api: Api, ask: Ask) -> Taken:
        if (api.protocol, ask) not in kept:
            kept[api.protocol, ask] = take(address, api, ask)
        return kept[api.protocol, ask]

    return ask_once


def states(response: trigate.Response) -> list[tuple[str | None, str, str | None]]:
    return [(call.name, call.state, call.problem) for call in response.calls]


def codes(response: trigate.Response) -> set[str]:
    return {anomaly.code for anomaly in response.anomalies}


@every_api
def test_a_completed_call_is_released_with_its_arguments(
    address: tuple[str, int], taken: Taker, api: Api
) -> None:
    turn = taken(api, GOOD)
    for response in (turn.named, turn.auto):
        assert response.status == "completed"
        assert response.protocol == api.protocol
        assert response.clean_end
        (call,) = response.released
        assert [(call.name, call.arguments)] == streamed(turn.stream)[0]
        assert [(call.name, call.value())] == whole(answer(address, api, GOOD))
        assert call.value() == {"to": "Anna", "amount": 1000}
        assert call.call_id
        assert response.usage is not None or api.protocol == "openai-chat"  # chat sends none unasked


@every_api
def test_the_token_limit_inside_the_arguments(taken: Taker, api: Api) -> None:
    turn = taken(api, CUT)
    ((name, arguments),) = streamed(turn.stream)[0]
    assert arguments.startswith("{")
    with pytest.raises(ValueError, match=r"."):
        json.loads(arguments)
    for response in (turn.named, turn.auto):
        assert response.released == ()
        assert states(response) == [(name, "void", "incomplete")]
        assert response.calls[0].arguments == arguments
        if api.protocol == RESPONSES:
            # On the wire, the response and the cut item are both "completed".
            assert (response.status, response.reason) == ("completed", "completed")
            assert "cut_call_in_completed_response" in codes(response)
        else:
            assert response.status == "incomplete"
            assert response.reason == ("length" if api.protocol == "openai-chat" else "max_tokens")


def test_the_wire_really_calls_the_cut_call_completed(taken: Taker) -> None:
    (api,) = (api for api in APIS if api.protocol == RESPONSES)
    last = events(taken(api, CUT).stream)[-1]
    assert last["type"] == "response.completed"
    assert last["response"]["status"] == "completed"
    (item,) = last["response"]["output"]
    assert (item["type"], item["status"]) == ("function_call", "completed")
    assert not item["arguments"].endswith("}")


@every_api
def test_the_token_limit_inside_a_second_call(taken: Taker, api: Api) -> None:
    turn = taken(api, CUT_IN_SECOND)
    (first, first_arguments), (second, second_arguments) = streamed(turn.stream)[0]
    assert json.loads(first_arguments) == {}
    with pytest.raises(ValueError, match=r"."):
        json.loads(second_arguments)
    for response in (turn.named, turn.auto):
        cut = response.calls[1]
        assert (cut.name, cut.state, cut.problem) == (second, "void", "incomplete")
        if api.protocol == RESPONSES:
            # The response is "completed", and the first call is whole: it alone may run.
            assert [call.name for call in response.released] == [first]
            assert "cut_call_in_completed_response" in codes(response)
        else:
            assert response.status == "incomplete"
            assert response.released == ()


@every_api
def test_two_calls_in_one_turn(taken: Taker, api: Api) -> None:
    turn = taken(api, TWO)
    told = streamed(turn.stream)[0]
    assert [name for name, _ in told] == ["ping", "weather"]
    for response in (turn.named, turn.auto):
        assert response.status == "completed"
        assert [(call.name, call.arguments) for call in response.released] == told
        assert len({call.call_id for call in response.calls}) == 2


@every_api
def test_a_turn_of_text(taken: Taker, api: Api) -> None:
    turn = taken(api, TEXT)
    for response in (turn.named, turn.auto):
        assert response.status == "completed"
        assert response.calls == ()
        assert response.text == streamed(turn.stream)[1] != ""


@every_api
def test_the_client_closes_the_connection_inside_a_call(address: tuple[str, int], api: Api) -> None:
    parser = trigate.ResponseParser(api.protocol)
    incoming = pieces(address, api, GOOD)
    for piece in incoming:
        parser.feed(piece)
        if parser.response.calls and len(parser.response.calls[0].arguments) > 4:
            break
    incoming.close()  # type: ignore[attr-defined]
    response = parser.finish()
    assert response.status == "truncated"
    assert response.error is not None
    assert response.error.code.startswith("truncated_in_")  # type: ignore[union-attr]
    assert response.released == ()
    assert response.calls[0].state == "void"


@every_api
@pytest.mark.parametrize("turn", TURNS)
def test_the_same_bytes_at_other_cuts_give_the_same(taken: Taker, api: Api, turn: str) -> None:
    live = taken(api, TURNS[turn])
    chance = random.Random(f"{api.protocol} {turn}")
    for most in (1, 7, 300, 5000):
        chunks, at = [], 0
        while at < len(live.stream):
            size = chance.randint(1, most)
            chunks.append(live.stream[at : at + size])
            at += size
        assert trigate.parse(chunks, api.protocol) == live.named
        assert trigate.parse(chunks, "auto") == live.auto


@every_api
@pytest.mark.parametrize("turn", TURNS)
def test_no_beginning_of_it_releases_anything(taken: Taker, api: Api, turn: str) -> None:
    """Cut before the event that ends it, a stream releases nothing."""
    live = taken(api, TURNS[turn])
    end = {"openai-chat": b'"finish_reason":"', RESPONSES: b"event: response.completed"}
    last = live.stream.rindex(end.get(api.protocol, b"event: message_delta"))
    for at in range(0, last + 1, 41):
        response = trigate.parse([live.stream[:at]], api.protocol)
        assert response.status == "truncated"
        assert response.released == ()


@every_api
@pytest.mark.parametrize("protocol", ["named", "auto"])
def test_an_error_instead_of_a_stream(address: tuple[str, int], api: Api, protocol: str) -> None:
    parser = trigate.ResponseParser(api.protocol if protocol == "named" else "auto")
    body = b""
    for piece in pieces(address, api, GOOD, status=400, temperature="hot"):
        body += piece
        parser.feed(piece)
    response = parser.finish()
    told = json.loads(body)["error"]
    assert response.status == "failed"
    assert response.error is not None
    assert response.error.layer == "provider"
    assert (response.error.type, response.error.message) == (told["type"], told["message"])
    assert response.error.code == told["code"] == 400
    assert response.released == ()
