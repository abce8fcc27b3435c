"""Wrong use is refused at once with a clear exception, and what was right before it stays right.

One object belongs to one thread at a time; a second one, or the same one coming back through a callback, gets
a RuntimeError, and every feed that was taken gives its events exactly once.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import frames
import readings
from trigate import (
    DecodeError,
    EventStreamDecoder,
    JSONTracker,
    NDJSONDecoder,
    OtherEvent,
    ResponseParser,
    ServerSentEvent,
    SSEDecoder,
)
from wire_builder import Wire

EVENT = b"id: 1\nevent: t\ndata: x\n\n"
NOT_BYTES = [None, 5, 1.5, object(), [1, 2], (b"x",), {"a": 1}, iter(b"x"), EVENT.decode]
Maker = Callable[[], Any]
MAKERS: list[Maker] = [SSEDecoder, JSONTracker, lambda: ResponseParser("openai-responses")]
each_maker = pytest.mark.parametrize("make", MAKERS, ids=["SSEDecoder", "JSONTracker", "ResponseParser"])


# -- wrong types ---------------------------------------------------------------------------------------


@each_maker
@pytest.mark.parametrize("chunk", NOT_BYTES, ids=lambda chunk: type(chunk).__name__)
def test_feed_takes_bytes_alone(make: Maker, chunk: Any) -> None:
    with pytest.raises(TypeError, match="bytes-like object is required, not '?" + type(chunk).__name__):
        make().feed(chunk)


def test_a_str_chunk_is_refused_by_name() -> None:
    decoder: Any = SSEDecoder()
    with pytest.raises(TypeError, match=r"bytes.*not.*str"):
        decoder.feed("data: x\n\n")
    parser: Any = ResponseParser("openai-responses")
    with pytest.raises(TypeError, match=r"bytes.*not str"):
        parser.feed("data: x\n\n")


@each_maker
def test_wrong_numbers_of_arguments(make: Maker) -> None:
    for arguments in ((), (b"x", b"y")):
        with pytest.raises(TypeError):
            make().feed(*arguments)
    with pytest.raises(TypeError):
        make().finish(1)


@pytest.mark.parametrize(
    "chunk", ["data: y\n\n", None, 5, memoryview(b"data: y\n\n")[::2]], ids=["str", "None", "int", "strided"]
)
def test_a_refused_chunk_changes_nothing(chunk: Any) -> None:
    decoder = SSEDecoder()
    decoder.feed(EVENT[:10])
    with pytest.raises((TypeError, BufferError)):
        decoder.feed(chunk)
    assert decoder.bytes_fed == 10
    events = decoder.feed(EVENT[10:])
    assert [readings.members(event) for event in events] == list(readings.read([EVENT]).events)

    stream = Wire().call('{"a":1}').complete().stream
    parser = ResponseParser("openai-responses")
    for place in range(0, len(stream), 50):
        parser.feed(stream[place : place + 50])
        with pytest.raises((TypeError, BufferError)):
            parser.feed(chunk)
    whole = ResponseParser("openai-responses")
    whole.feed(stream)
    assert parser.finish() == whole.finish()
    assert len(whole.response.released) == 1


def test_a_non_contiguous_tracker_chunk_changes_nothing() -> None:
    tracker = JSONTracker()
    tracker.feed("[")
    with pytest.raises(BufferError):
        tracker.feed(memoryview(b"]]]")[::2])
    assert tracker.feed("]") == "closed"


@pytest.mark.parametrize("chunk", [EVENT, b"data: \xff\n\n", b""])
def test_a_chunk_is_given_back(chunk: bytes) -> None:
    """Also after an error no export of the caller's buffer stays."""
    room = bytearray(chunk)
    decoder = SSEDecoder(errors="strict")
    events: list[ServerSentEvent] = []
    with contextlib.suppress(DecodeError):
        events = decoder.feed(room)
    assert (decoder.error is not None) == (b"\xff" in chunk)
    room.clear()
    assert [event.data for event in events] == ["x"] * chunk.count(EVENT)


def test_constructors_refuse_what_they_do_not_know() -> None:
    decoder: Any = SSEDecoder
    tracker: Any = JSONTracker
    parser: Any = ResponseParser
    event: Any = ServerSentEvent
    wrong: list[tuple[type[Exception], Callable[[], object]]] = [
        (TypeError, lambda: decoder("replace")),
        (TypeError, lambda: decoder(errors=None)),
        (TypeError, lambda: decoder(errors=b"strict")),
        (ValueError, lambda: decoder(errors="ignore")),
        (TypeError, lambda: decoder(limits={})),
        (TypeError, lambda: decoder(limits=5)),
        (TypeError, lambda: decoder(unknown=1)),
        (TypeError, lambda: tracker(True)),
        (TypeError, lambda: tracker(max_depth="5")),
        (TypeError, lambda: tracker(max_depth=5.0)),
        (TypeError, lambda: tracker(max_depth=None)),
        (ValueError, lambda: tracker(max_depth=0)),
        (ValueError, lambda: tracker(max_depth=-1)),
        (ValueError, lambda: tracker(max_depth=2**63)),
        (TypeError, lambda: event(5)),
        (TypeError, lambda: event(data=b"x")),
        (TypeError, lambda: event(data=None)),
        (TypeError, lambda: event(id=None)),
        (TypeError, lambda: event(retry="5")),
        (ValueError, lambda: event(data="\ud800")),
        (TypeError, parser),
        (TypeError, lambda: parser("openai-responses", "call")),
        (ValueError, lambda: parser("openai")),
        (ValueError, lambda: parser(5)),
        (ValueError, lambda: parser("openai-responses", release_on="item")),
        (ValueError, lambda: parser("openai-responses", ids="uuid")),
        (TypeError, lambda: parser("openai-responses", limits=5)),
        (TypeError, lambda: parser("openai-responses", lenient="utf8")),
        (ValueError, lambda: parser("openai-responses", lenient=["everything"])),
        (TypeError, lambda: parser("openai-responses", lenient=None)),
    ]
    for number, (kind, act) in enumerate(wrong):
        try:
            made = act()
        except kind:
            continue
        pytest.fail(f"case {number} made {made!r}")


# -- wrong order ---------------------------------------------------------------------------------------


@each_maker
@pytest.mark.parametrize("chunk", [b"", b"x", EVENT])
def test_feed_after_finish(make: Maker, chunk: bytes) -> None:
    machine = make()
    machine.feed(b"  ")
    first = machine.finish()
    with pytest.raises(RuntimeError, match=r"feed\(\) after finish\(\)"):
        machine.feed(chunk)
    assert machine.finish() == first


def test_finish_twice_is_the_same() -> None:
    decoder = SSEDecoder()
    decoder.feed(b"data: x\nda")
    assert decoder.finish() is decoder.finish()
    parser = ResponseParser("openai-responses")
    parser.feed(Wire().call("{}").stream)
    assert parser.finish() is parser.finish() is parser.response


def test_feed_after_a_fault_takes_nothing() -> None:
    """The parser never raises for what came over the wire, and forgets nothing of it."""
    stream = Wire().call("{}").stream
    parser = ResponseParser("openai-responses")
    parser.feed(stream + b"data: \xff")
    before = parser.response
    assert before.status == "failed"
    assert parser.feed(Wire().complete().stream) == []
    after = parser.finish()
    assert (after.status, after.error, after.released) == ("failed", before.error, ())


# -- types that are closed -----------------------------------------------------------------------------


@pytest.mark.parametrize("base", [SSEDecoder, JSONTracker, ServerSentEvent])
def test_types_are_final(base: type) -> None:
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Sub", (base,), {})


@each_maker
def test_machines_are_not_copied(make: Maker) -> None:
    machine = make()
    for act in (copy.copy, copy.deepcopy, pickle.dumps, lambda made: pickle.dumps(made, 0)):
        with pytest.raises(TypeError, match="cannot"):
            act(machine)


@pytest.mark.parametrize("make", [SSEDecoder, JSONTracker])
def test_machines_have_no_room_for_strangers(make: Maker) -> None:
    machine = make()
    with pytest.raises(AttributeError):
        machine.anything = 1
    for name in ("limits", "errors", "max_depth", "strict", "bytes_fed", "state"):
        if hasattr(machine, name):
            with pytest.raises(AttributeError):
                setattr(machine, name, None)


def test_a_second_init_starts_anew() -> None:
    decoder = SSEDecoder()
    decoder.feed(b"id: 7\ndata: half")
    decoder.__init__(errors="strict")
    assert (decoder.bytes_fed, decoder.last_event_id, decoder.errors) == (0, "", "strict")
    assert [event.id for event in decoder.feed(b"data: x\n\n")] == [""]


# -- two at once ---------------------------------------------------------------------------------------


class _Callback:
    """Calls back into a machine from inside its own feed, and keeps what that did."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self.outcomes: list[object] = []
        self._is_inside = False

    def __call__(self, *_arguments: object) -> None:
        if self._is_inside:
            return
        self._is_inside = True
        try:
            self.outcomes.append(self._act())
        except RuntimeError as error:
            self.outcomes.append(error)
        finally:
            self._is_inside = False

    @property
    def refusals(self) -> int:
        return sum(isinstance(outcome, RuntimeError) for outcome in self.outcomes)


@pytest.fixture
def busy_collector() -> Iterator[None]:
    """The collector runs at nearly every allocation."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(1, 1, 1)
    yield
    gc.set_threshold(*before)


ACTS: list[Callable[[SSEDecoder], object]] = [
    lambda decoder: decoder.feed(b"data: intruder\n\n"),
    lambda decoder: decoder.finish(),
    lambda decoder: decoder.reset(),
    lambda decoder: decoder.last_event_id,
    lambda decoder: decoder.__init__(),
]
VERBS: list[Callable[[EventStreamDecoder], object]] = [
    lambda decoder: decoder.feed(b"intruder"),
    lambda decoder: decoder.finish(),
    lambda decoder: decoder.reset(),
    lambda decoder: decoder.__init__(),
]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the collector waits for Python code")
@pytest.mark.parametrize("act", VERBS, ids=["feed", "finish", "reset", "init"])
@pytest.mark.usefixtures("busy_collector")
def test_a_callback_of_the_collector_is_refused(act: Callable[[EventStreamDecoder], object]) -> None:
    """Messages hold a dict, so making them may start the collector in the middle of a feed."""
    decoder = EventStreamDecoder()
    callback = _Callback(lambda: act(decoder))
    block = frames.message(b"x")
    gc.callbacks.append(callback)
    try:
        messages = decoder.feed(block * 500)
    finally:
        gc.callbacks.remove(callback)
    assert callback.refusals == len(callback.outcomes) > 0
    assert [message.end for message in messages] == [len(block) * (place + 1) for place in range(500)]
    assert {message.data for message in messages} == {"x"}


@pytest.mark.usefixtures("busy_collector")
def test_events_and_records_are_no_work_for_the_collector() -> None:
    callback = _Callback(lambda: None)
    decoder = SSEDecoder()
    gc.callbacks.append(callback)
    try:
        events = decoder.feed(EVENT * 500)
        records = NDJSONDecoder().feed(b"{}\n")
    finally:
        gc.callbacks.remove(callback)
    assert len(events) == 500
    assert not any(gc.is_tracked(frame) for frame in (*events, *records))


@pytest.mark.usefixtures("busy_collector")
def test_a_finalizer_that_feeds_is_harmless() -> None:
    decoder = SSEDecoder()
    outcomes: list[str] = []

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            try:
                decoder.feed(EVENT)
                outcomes.append("fed")
            except RuntimeError:
                outcomes.append("refused")

    total = 0
    for _ in range(200):
        Cycle()
        total += len(decoder.feed(EVENT * 3))
    gc.collect()
    assert len(outcomes) == 200
    assert total == 600
    assert decoder.bytes_fed == len(EVENT) * (600 + outcomes.count("fed"))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python code cannot be a buffer before 3.12")
@pytest.mark.parametrize("act", ACTS, ids=["feed", "finish", "reset", "last_event_id", "init"])
def test_a_buffer_that_comes_back_is_refused(act: Callable[[SSEDecoder], object]) -> None:
    decoder = SSEDecoder()
    callback = _Callback(lambda: act(decoder))

    class Chunk:
        def __buffer__(self, _flags: int) -> memoryview:
            callback()
            return memoryview(EVENT)

    assert [event.data for event in decoder.feed(Chunk())] == ["x"]
    assert callback.refusals == len(callback.outcomes) == 1


def _hammer(feed: Callable[[], int], threads: int = 8, rounds: int = 400) -> tuple[int, int]:
    """Many threads feed one machine; the number of feeds that were taken, and of what they gave."""
    taken: list[int] = []
    strange: list[BaseException] = []
    start = threading.Barrier(threads)

    def run() -> None:
        start.wait()
        for _ in range(rounds):
            try:
                taken.append(feed())
            except RuntimeError:
                continue
            except BaseException as error:
                strange.append(error)
                raise

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        crowd = [threading.Thread(target=run) for _ in range(threads)]
        for thread in crowd:
            thread.start()
        for thread in crowd:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert strange == []
    return len(taken), sum(taken)


def test_threads_that_hammer_one_decoder() -> None:
    decoder = SSEDecoder()
    feeds, events = _hammer(lambda: len(decoder.feed(EVENT * 5)))
    assert feeds > 0
    assert events == feeds * 5
    assert decoder.bytes_fed == len(EVENT) * events
    assert decoder.finish().where is None


def test_threads_that_hammer_one_tracker() -> None:
    tracker = JSONTracker()
    tracker.feed("[")
    feeds, _ = _hammer(lambda: len(tracker.feed("[1],[2],")))
    tracker.feed("3]")
    assert (tracker.finish(), tracker.closed_at) == ("closed", 3 + 8 * feeds)


def test_threads_that_hammer_one_parser() -> None:
    wire = Wire()
    parser = ResponseParser("openai-responses")
    parser.feed(wire.stream)
    chunk = b'data: {"type":"response.unheard_of"}\n\n' * 5
    feeds, others = _hammer(lambda: sum(isinstance(item, OtherEvent) for item in parser.feed(chunk)))
    assert others == feeds * 5
    parser.feed(wire.complete().stream[len(Wire().stream) :])
    assert parser.finish().status == "completed"


def test_a_second_thread_in_one_parser_is_refused() -> None:
    """The first one is held inside its feed by its own chunk's interpreter."""
    parser = ResponseParser("openai-responses")
    inner: Any = parser._interpreter
    is_inside, may_leave = threading.Event(), threading.Event()

    class Slow:
        def __getattr__(self, name: str) -> Any:
            is_inside.set()
            assert may_leave.wait(30)
            return getattr(inner, name)

    stream = Wire().call("{}").complete().stream
    items: list[object] = []
    parser.feed(stream[:10])
    hidden: Any = parser
    hidden._interpreter = Slow()
    first = threading.Thread(target=lambda: items.extend(parser.feed(stream[10:])))
    first.start()
    assert is_inside.wait(30)
    for act in (lambda: parser.feed(b"data: intruder\n\n"), lambda: parser.feed(b""), parser.finish):
        with pytest.raises(RuntimeError, match="in use"):
            act()
    may_leave.set()
    first.join()
    assert items
    response = parser.finish()
    assert (response.status, len(response.released)) == ("completed", 1)


# -- no memory -----------------------------------------------------------------------------------------


def _feed_again(decoder: SSEDecoder, stream: bytes) -> list[ServerSentEvent]:
    """After a MemoryError: the chunk was not taken at all, or a reset is asked for."""
    if decoder.bytes_fed == 0:
        return decoder.feed(stream)
    with pytest.raises(RuntimeError, match=r"reset\(\)"):
        decoder.feed(stream)
    decoder.reset()
    return decoder.feed(stream)


def test_every_allocation_of_a_feed_fails_in_turn() -> None:
    """MemoryError, then either nothing had been taken, or reset() is asked for; never a half-read chunk."""
    hooks: Any = pytest.importorskip("_testcapi", reason="this Python has no hooks into its allocator")
    stream = b"id: 12345\nevent: delta\nretry: 1000\ndata: some text\n\n" * 10
    whole = readings.read([stream])
    failures = 0
    for number in range(1, 400):
        decoder = SSEDecoder()
        events: list[ServerSentEvent] | None = None
        hooks.set_nomemory(number, number + 1)
        try:
            events = decoder.feed(stream)
        except MemoryError:
            failures += 1
        finally:
            hooks.remove_mem_hooks()
        if events is None:
            events = _feed_again(decoder, stream)
        assert tuple(readings.members(event) for event in events) == whole.events
        assert decoder.finish() == whole.leftover
    assert failures > 10
