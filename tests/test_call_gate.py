"""CallGate: what is allowed goes out byte for byte; of what is not, no byte does, and the client is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuts
import trigate
from gate_runs import Run, readable, run, yes
from matrix_streams import A, B, good, matrix
from model import READERS
from model.frames import DONE, join
from model.generate import good_turns, turns
from trigate.tap import CallGate, GateDecision

PROTOCOLS = sorted(READERS)
protocols = pytest.mark.parametrize("protocol", PROTOCOLS)
CELLS = [(protocol, row, data) for protocol, row, data in matrix()]
cells = pytest.mark.parametrize(
    ("protocol", "row", "data"), CELLS, ids=[f"{protocol}-{row}" for protocol, row, _ in CELLS]
)
#: What tells the two calls of the matrix from everything else in a stream.
MARKS = {A.name: (A.name, A.call_id, "UTC"), B.name: (B.name, B.call_id, "/tmp")}
some = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


def no_removing(call: trigate.ToolCall) -> bool | str:
    return call.name != B.name or "removing is not for you"


def border(gate: CallGate) -> int:
    """Where the gate ended the stream."""
    assert gate.response.error is not None
    assert gate.response.error.offset is not None
    return gate.response.error.offset


def check_ended(data: bytes, protocol: str, ran: Run) -> trigate.Response:
    """The output is a beginning of the stream and one event more, which says that it failed, and with what code."""
    at = border(ran.gate)
    assert ran.out[:at] == data[:at]
    assert ran.gate.is_shut
    assert ran.gate.response.status == "failed"
    assert ran.gate.response.released == ()
    mine = ran.gate.response.error
    assert mine is not None
    seen = trigate.parse(ran.out, protocol)
    assert seen.released == ()
    if DONE in data[:at]:
        assert seen.status in ("failed", "truncated")  # who reads on behind the end mark
        return seen
    assert seen.status == "failed"
    assert seen.error is not None
    assert (seen.error.layer, seen.error.message) == ("provider", mine.message)
    assert seen.error.message.startswith(f"{mine.code}: ")
    assert protocol == "gemini" or seen.error.code == mine.code
    if protocol in ("openai-responses", "openai-chat", "anthropic-messages"):
        assert seen.error.type == mine.type
    before = trigate.parse(data[:at], protocol)
    assert seen.text == before.text
    assert seen.reasoning == before.reasoning
    return seen


# -- every protocol, every way to cut and spoil a turn ---------------------------------------------------


@cells
@pytest.mark.parametrize("until", ["call", "response"])
def test_what_is_whole_passes_unchanged_and_nothing_else_does(
    protocol: str, row: str, data: bytes, until: Any
) -> None:
    whole = trigate.parse(data, protocol)
    expected = run([data], protocol, until=until)
    for chunks in sampled(data, f"{protocol} {row}"):
        ran = run(chunks, protocol, until=until)
        assert ran.out == expected.out
        assert ran.gate.decisions == expected.gate.decisions
    if whole.status == "completed" and all(call in whole.released for call in whole.calls):
        assert expected.out == data
        assert not expected.gate.is_shut
        assert expected.gate.response == whole
    elif expected.out != data:
        check_ended(data, protocol, expected)
        refused = {decision.call.name for decision in expected.gate.decisions if not decision.allowed}
        said = readable(protocol, data[: border(expected.gate)])
        assert not any(mark in said for name in refused for mark in MARKS.get(name, ()))
    else:
        # The wire's own word for how it ended is kept, and no call waited.
        assert whole.status in ("incomplete", "failed")


def sampled(data: bytes, seed: str) -> Iterator[list[bytes]]:
    yield cuts.singly(data)
    yield from cuts.at_random(data, seed, rounds=2)
    for place in range(0, len(data), max(1, len(data) // 6)):
        yield cuts.at(data, [place])


@cells
def test_of_a_refused_call_nothing_leaves(protocol: str, row: str, data: bytes) -> None:
    """Whatever else is wrong with it, and wherever the stream is cut."""
    expected = run([data], protocol, no_removing)
    for chunks in sampled(data, f"{row} {protocol}"):
        assert run(chunks, protocol, no_removing).out == expected.out
    if not expected.gate.is_shut:
        assert expected.out == data
        assert B.name not in readable(protocol, data)
        return
    seen = check_ended(data, protocol, expected)
    said = readable(protocol, data[: border(expected.gate)])
    assert not any(mark in said for mark in MARKS[B.name])
    assert all(call.name != B.name for call in seen.calls)


@protocols
@pytest.mark.parametrize("wrong", [False, "", None, 1, "no", b"yes", "raise"])
def test_only_true_is_a_yes(protocol: str, wrong: Any) -> None:
    def allow(_call: trigate.ToolCall) -> Any:
        if wrong == "raise":
            raise LookupError("secret")
        return wrong

    data = good(protocol)
    ran = run(cuts.singly(data), protocol, allow)
    check_ended(data, protocol, ran)
    assert b"secret" not in ran.out
    (first, *_) = ran.gate.decisions
    assert not first.allowed
    assert first.reason == {"raise": "the question failed with LookupError", "no": "no"}.get(
        str(wrong), "it is not allowed"
    )
    assert not any(mark in readable(protocol, data[: border(ran.gate)]) for mark in MARKS[A.name])


# -- generated turns -------------------------------------------------------------------------------------


@protocols
@some
@given(st.data())
def test_a_right_turn_passes_unchanged(protocol: str, data: st.DataObject) -> None:
    stream = join(data.draw(good_turns(protocol)))
    for until in ("call", "response"):
        for chunks in (cuts.singly(stream), *cuts.at_random(stream, protocol, rounds=2)):
            ran = run(chunks, protocol, until=until)
            assert ran.out == stream
            assert ran.gate.response == trigate.parse(stream, protocol)
            assert all(decision.allowed for decision in ran.gate.decisions)
            assert len(ran.gate.decisions) == len(ran.gate.response.calls)


@protocols
@settings(some, max_examples=40)
@given(st.data())
def test_whatever_comes_the_client_gets_allowed_calls_alone(protocol: str, data: st.DataObject) -> None:
    """Any turn, right or wrong, and any answers."""
    stream = join(data.draw(turns(protocol)))
    refused = data.draw(st.sets(st.integers(0, 2)))
    until = data.draw(st.sampled_from(["call", "response"]))

    def allow(call: trigate.ToolCall) -> bool:
        return call.index not in refused

    ran = run([stream], protocol, allow, until=until)
    for chunks in (cuts.singly(stream), *cuts.at_random(stream, protocol, rounds=2)):
        again = run(chunks, protocol, allow, until=until)
        assert again.out == ran.out
        assert again.gate.decisions == ran.gate.decisions
    seen = trigate.parse(ran.out, protocol)
    allowed = [decision.call for decision in ran.gate.decisions if decision.allowed]
    for call in seen.released:
        assert (call.name, call.arguments) in [(one.name, one.arguments) for one in allowed]
    if ran.gate.response.error is not None and ran.gate.is_shut:
        check_ended(stream, protocol, ran)
    elif not ran.gate.is_shut:
        assert ran.out == stream


@protocols
def test_text_is_never_delayed(protocol: str) -> None:
    """As long as no call has begun, every event goes out with its last byte."""
    flowed: list[str] = []

    @some
    @given(good_turns(protocol))
    def flows(frames: list[bytes]) -> None:
        gate = CallGate(protocol, yes)
        out = fed = b""
        for frame in frames:
            fed += frame
            out += gate.feed(frame)
            if gate.response.calls:
                break
            assert out == fed
            flowed.append(gate.response.text)

    flows()
    assert any(flowed)


def test_comments_flow_between_events_and_wait_inside_of_one() -> None:
    gate = CallGate("openai-chat", yes)
    assert gate.feed(b": ping\n\n") == b": ping\n\n"
    assert gate.feed(b": pi") == b""
    assert gate.feed(b"ng\n\ndata: {") == b": ping\n\n"
    assert gate.held_bytes == 7


# -- parallel calls --------------------------------------------------------------------------------------


def test_the_second_of_two_calls_is_refused_and_the_first_has_passed() -> None:
    data = good("anthropic-messages")
    ran = run(cuts.singly(data), "anthropic-messages", no_removing)
    first, second = ran.gate.decisions
    assert (first.call.name, first.allowed, first.reason) == (A.name, True, "")
    assert (second.call.name, second.allowed, second.reason) == (B.name, False, "removing is not for you")
    assert readable("anthropic-messages", ran.out).count(A.call_id) == 1
    assert [call.problem for call in ran.gate.response.calls] == ["response_not_completed", "refused"]
    error = ran.gate.response.error
    assert error is not None
    assert (error.type, error.code) == ("permission_error", "call_refused")
    assert error.message == "call_refused: the call of remove_file may not pass: removing is not for you"


def test_until_response_nothing_of_either_leaves() -> None:
    for protocol in PROTOCOLS:
        data = good(protocol)
        ran = run(cuts.singly(data), protocol, no_removing, until="response")
        check_ended(data, protocol, ran)
        said = readable(protocol, data[: border(ran.gate)])
        assert not any(mark in said for marks in MARKS.values() for mark in marks)


def test_until_response_the_calls_are_released_when_they_are_asked_for() -> None:
    seen: list[Any] = []

    def allow(call: trigate.ToolCall) -> bool:
        assert isinstance(call, trigate.ReleasedCall)
        seen.append(call.value())
        return True

    for protocol in PROTOCOLS:
        assert run([good(protocol)], protocol, allow, until="response").out == good(protocol)
    assert seen == [A.value, B.value] * len(PROTOCOLS)


# -- bounds, order, misuse -------------------------------------------------------------------------------


@protocols
def test_what_is_held_is_bounded(protocol: str) -> None:
    """n bytes may wait, n + 1 may not."""
    data = good(protocol)
    gate = CallGate(protocol, yes)
    most = 0
    for byte in cuts.singly(data):
        gate.feed(byte)
        most = max(most, gate.held_bytes)
    assert run(cuts.singly(data), protocol, max_held_bytes=most).out == data
    ran = run(cuts.singly(data), protocol, max_held_bytes=most - 1)
    assert ran.gate.held_bytes == 0
    check_ended(data, protocol, ran)
    error = ran.gate.response.error
    assert error is not None
    assert error.code == "held_too_large"
    assert f"max_held_bytes = {most - 1}" in error.message


def test_after_the_end_nothing_more_leaves() -> None:
    gate = CallGate("openai-chat", no_removing)
    data = good("openai-chat")
    out = gate.feed(data)
    assert out.endswith(b"\n\n")
    assert gate.is_shut
    assert gate.feed(data) == b""
    assert gate.finish() == b""
    assert gate.finish() == b""
    with pytest.raises(RuntimeError, match="after finish"):
        gate.feed(b"")


@pytest.mark.parametrize("protocol", ["anthropic-messages", "openai-responses", "openai-chat"])
def test_a_second_response_behind_the_end_does_not_leave(protocol: str) -> None:
    data = good(protocol) + (DONE if protocol == "openai-chat" else b"")
    for chunks in ([data + data], [data, data], cuts.singly(data + data)):
        ran = run(chunks, protocol)
        assert ran.out == data
        assert ran.gate.response.status == "completed"


@pytest.mark.parametrize("protocol", ["anthropic-messages", "openai-responses", "ollama-chat"])
@pytest.mark.parametrize("late", [b"data: \xff\n\n", b"x" * 13], ids=["fault", "no end"])
def test_what_comes_behind_the_end_changes_no_verdict(protocol: str, late: bytes) -> None:
    """Be it at fault, or an event that grows without end: it does not leave, and the client was told how it ended."""
    data = good(protocol)
    ran = run([data, *[late] * 100], protocol, max_held_bytes=1000)
    assert ran.out == data
    assert ran.gate.is_shut
    assert ran.gate.held_bytes == 0
    assert ran.gate.response.status == "completed"
    assert run([data + late * 100], protocol, max_held_bytes=1000).out == data


def test_many_calls_at_once() -> None:
    """None is asked about twice or left out, in the order in which they closed within one event and over several."""
    start = b'data: {"choices":[{"index":0,"delta":{"tool_calls":[%s]}}]}\n\n'
    call = b'{"index":%d,"id":"c%d","type":"function","function":{"name":"f%d","arguments":"{}"}}'
    events = [start % (call % (number, number, number)) for number in range(300)]
    events.append(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n' + DONE)
    asked: list[str] = []

    def allow(call: trigate.ToolCall) -> bool:
        asked.append(call.name)
        return True

    ran = run(events, "openai-chat", allow)
    assert ran.out == b"".join(events)
    assert asked == [f"f{number}" for number in range(300)]


def test_a_body_that_is_no_stream() -> None:
    error = b'{"error": {"type": "overloaded_error", "message": "busy"}}'
    ran = run(cuts.singly(error), "anthropic-messages")
    assert (ran.out, ran.gate.response.status) == (error, "failed")
    whole = b'{"content": [{"type": "tool_use", "name": "remove_file"}]}'
    ran = run(cuts.singly(whole), "anthropic-messages")
    assert b"remove_file" not in ran.out.partition(b"not_a_stream")[0]
    assert ran.out.startswith(b"event: error\ndata: ")


def test_wrong_options() -> None:
    made: Any = CallGate
    with pytest.raises(ValueError, match="until"):
        made("openai-chat", yes, until="never")
    with pytest.raises(ValueError, match="max_held_bytes"):
        made("openai-chat", yes, max_held_bytes=-1)
    with pytest.raises(ValueError, match="protocol"):
        made("nonsense", yes)


# -- asynchronous answers --------------------------------------------------------------------------------


async def later(call: trigate.ToolCall) -> bool | str:
    await asyncio.sleep(0)
    return no_removing(call)


@protocols
def test_answers_may_be_asynchronous(protocol: str) -> None:
    async def through(allow: Any) -> tuple[bytes, tuple[GateDecision, ...]]:
        gate = CallGate(protocol, allow)
        out = [await gate.afeed(chunk) for chunk in cuts.singly(good(protocol))]
        return b"".join(out) + await gate.afinish(), gate.decisions

    expected = run([good(protocol)], protocol, no_removing)
    for allow in (later, no_removing):
        assert asyncio.run(through(allow)) == (expected.out, expected.gate.decisions)


def test_what_cannot_be_asked_is_refused_before_the_first_byte() -> None:
    names: Any = {"get_weather"}
    with pytest.raises(TypeError, match="allow must be a function"):
        CallGate("anthropic-messages", names)


def test_an_asynchronous_answer_to_a_synchronous_question() -> None:
    gate = CallGate("anthropic-messages", later)
    with pytest.raises(TypeError, match="afeed"):
        gate.feed(good("anthropic-messages"))
    assert b"event: error" in gate.finish()
    assert gate.response.released == ()


def test_a_question_that_is_cancelled_is_a_no() -> None:
    async def never(_call: trigate.ToolCall) -> bool:
        await asyncio.get_running_loop().create_future()
        return True

    async def cancelled() -> CallGate:
        gate = CallGate("anthropic-messages", never)
        task = asyncio.create_task(gate.afeed(good("anthropic-messages")))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="waits for the answer"):
            gate.feed(b"")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return gate

    gate = asyncio.run(cancelled())
    assert gate.is_shut
    assert A.name.encode() not in gate.finish().partition(b"event: error")[0]
    assert not gate.decisions[0].allowed


def test_the_report_has_the_verdict_of_the_gate() -> None:
    ran = run([good("openai-chat")], "openai-chat", no_removing)
    report = ran.gate.report()
    assert (report.status, report.protocol) == ("failed", "openai-chat")
    assert report.error == ran.gate.response.error
    assert [call.state for call in report.calls] == ["void", "void"]


def test_a_call_in_the_same_event_as_text() -> None:
    """An event goes out whole or not at all: text beside a refused call is not shown."""
    text = b'data: {"candidates":[{"content":{"parts":[{"text":"Let me "}]}}]}\n\n'
    both = (
        b'data: {"candidates":[{"content":{"parts":[{"text":"see."},'
        b'{"functionCall":{"name":"remove_file","args":{}}}]},"finishReason":"STOP"}]}\n\n'
    )
    for chunks in ([text + both], cuts.singly(text + both)):
        assert run(chunks, "gemini").out == text + both
        ran = run(chunks, "gemini", no_removing)
        assert check_ended(text + both, "gemini", ran).text == "Let me "
        assert ran.out.startswith(text + b'data: {"error":{"code":403,')


def test_an_upstream_that_breaks_inside_a_call() -> None:
    data = good("openai-responses")
    place = data.index(b"/tmp")
    gate = CallGate("openai-responses", yes)
    out = gate.feed(data[:place]) + gate.finish(ConnectionResetError("gone"))
    assert B.name.encode() not in out.partition(b"event: error")[0]
    assert [(decision.call.name, decision.allowed) for decision in gate.decisions] == [
        (A.name, True),
        (B.name, False),
    ]
    assert gate.decisions[1].reason == "truncated_in_line"
    report = gate.report()
    assert (report.status, report.cause) == ("failed", "ConnectionResetError: gone")
    assert report.error is not None
    assert (report.error.type, report.error.code) == ("api_error", "truncated_in_line")


def test_the_providers_own_failure_is_told_in_place_of_a_call() -> None:
    data = next(
        data for name, row, data in CELLS if (name, row) == ("anthropic-messages", "error_in_mid_stream")
    )
    whole = trigate.parse(data, "anthropic-messages")
    ran = run(cuts.singly(data), "anthropic-messages")
    check_ended(data, "anthropic-messages", ran)
    assert whole.error is not None
    assert ran.gate.response.error is not None
    assert ran.gate.response.error.code == whole.error.code
    assert whole.error.message in ran.gate.response.error.message
