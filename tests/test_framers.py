"""What the decoders of records and messages share: verbs, sticky errors, limits, recorded streams."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any, TypeAlias

import pytest

import cuts
import frames
import readings
from frame_readings import Decoder, read, read_every_way
from recorded import corpus_entries, corpus_stream, needs_corpus
from trigate import (
    EventStreamDecoder,
    EventStreamMessage,
    JSONArrayDecoder,
    Leftover,
    LimitError,
    Limits,
    NDJSONDecoder,
    Record,
)

Maker: TypeAlias = Any
MAKERS: list[Maker] = [NDJSONDecoder, JSONArrayDecoder, EventStreamDecoder]
each_maker = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
each_text_maker = pytest.mark.parametrize("make", MAKERS[:2], ids=lambda make: make.__name__)
#: A stream of each framing with two frames.
STREAMS: dict[Maker, bytes] = {
    NDJSONDecoder: b'{"a":1}\n[2]\n',
    JSONArrayDecoder: b"[{}, 2 ]",
    EventStreamDecoder: frames.EXAMPLE * 2,
}


# -- limits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 100, 5000])
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_max_event_bytes(size: int, over: int) -> None:
    data = b"7" * (size + over)
    limits = Limits(max_event_bytes=size)
    streams: list[tuple[Decoder, bytes, int]] = [
        (NDJSONDecoder(limits=limits), data + b"\n", size),
        (NDJSONDecoder(limits=limits), b" \n" + data + b"\r\n", size + 2),
        (JSONArrayDecoder(limits=limits), b"[" + data + b"]", size + 1),
        (EventStreamDecoder(limits=limits), frames.seal(b"", data), 0),
    ]
    for decoder, stream, offset in streams:
        for pieces in ([stream], cuts.singly(stream)):
            reading = read(decoder, pieces)
            decoder.reset()
            if over > 0:
                assert reading.error == ("LimitError", "event_too_large", offset, "max_event_bytes")
                assert reading.frames == ()
            else:
                assert reading.error is None
                assert len(reading.frames) == 1


# -- what all decoders share -----------------------------------------------------------------------------


@each_text_maker
def test_strict_names_the_first_byte_at_fault(make: Maker) -> None:
    first, _, rest = STREAMS[make].partition(b"}")
    stream = first + b"}" + b'\n,"\xe4\xbdx' + rest
    offset = stream.index(b"\xe4")
    if make is NDJSONDecoder:
        stream = stream.replace(b",", b" ")
    whole = read_every_way(lambda: make(errors="strict"), stream)
    assert whole.error == ("DecodeError", "invalid_utf8", offset, None)
    assert len(whole.frames) == 1
    assert read(make(), [stream]).error != whole.error


@each_maker
def test_errors_are_sticky_until_reset(make: Maker) -> None:
    good = STREAMS[make]
    decoder = make(limits=Limits(max_event_bytes=3 if make is not EventStreamDecoder else 1))
    bad = {
        NDJSONDecoder: b"1\n2222",
        JSONArrayDecoder: b"[1,2222",
        EventStreamDecoder: frames.seal(b"", b"x"),
    }[make]
    if make is EventStreamDecoder:
        bad += good
    assert len(decoder.feed(bad)) == 1
    told = readings.describe(decoder.error)
    assert told[1] == "event_too_large"
    for act in (lambda: decoder.feed(b"x"), lambda: decoder.feed(b""), decoder.finish):
        with pytest.raises(LimitError) as caught:
            act()
        assert readings.describe(caught.value) == told
    decoder.reset()
    assert (decoder.error, decoder.bytes_fed) == (None, 0)
    assert decoder.finish().where in (None, "event")


@each_maker
def test_finish_is_idempotent_and_ends_it(make: Maker) -> None:
    decoder = make()
    assert len(decoder.feed(STREAMS[make])) == 2
    assert decoder.bytes_fed == len(STREAMS[make])
    left = decoder.finish()
    assert left is decoder.finish()
    assert not left
    with pytest.raises(RuntimeError, match=r"feed\(\) after finish\(\)"):
        decoder.feed(b"")
    decoder.reset()
    assert len(decoder.feed(bytearray(STREAMS[make]))) == 2


@each_maker
def test_misuse(make: Maker) -> None:
    for arguments in ({"limits": 5}, {"unknown": 1}, {"errors": None}):
        with pytest.raises(TypeError):
            make(**arguments)
    with pytest.raises(TypeError):
        make(Limits())
    decoder = make()
    for chunk in ("text", None, 5, memoryview(b"abcd")[::2]):
        with pytest.raises((TypeError, BufferError)):
            decoder.feed(chunk)
    assert decoder.bytes_fed == 0
    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            act(decoder)
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Sub", (make,), {})
    with pytest.raises(AttributeError):
        decoder.limits = None
    with pytest.raises(TypeError, match="base class"):
        make.__mro__[1]()


@each_text_maker
def test_errors_argument(make: Maker) -> None:
    assert (make().errors, make(errors="strict").errors) == ("replace", "strict")
    with pytest.raises(ValueError, match="must be 'replace' or 'strict'"):
        make(errors="ignore")


@each_maker
def test_a_second_init_starts_anew(make: Maker) -> None:
    decoder = make()
    decoder.feed(STREAMS[make][:3])
    decoder.__init__(limits=Limits(max_event_bytes=50))
    assert (decoder.bytes_fed, decoder.limits.max_event_bytes) == (0, 50)
    assert len(decoder.feed(STREAMS[make])) == 2


@each_maker
def test_without_init_it_is_the_default(make: Maker) -> None:
    decoder = make.__new__(make)
    assert len(decoder.feed(STREAMS[make])) == 2
    assert decoder.limits == Limits()


@each_maker
def test_one_thread_at_a_time(make: Maker) -> None:
    decoder = make()
    stream = {
        NDJSONDecoder: b"1\n" * 100,
        JSONArrayDecoder: b"1," * 100,
        EventStreamDecoder: frames.EXAMPLE * 20,
    }[make]
    decoder.feed(b"[" if make is JSONArrayDecoder else b"")
    counts: list[int] = []
    start = threading.Barrier(4)

    def run() -> None:
        start.wait()
        for _ in range(100):
            try:
                counts.append(len(decoder.feed(stream)))
            except RuntimeError:
                continue

    crowd = [threading.Thread(target=run) for _ in range(4)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert set(counts) == {20 if make is EventStreamDecoder else 100}
    assert decoder.bytes_fed == len(counts) * len(stream) + (make is JSONArrayDecoder)


@each_maker
def test_work_is_linear(make: Maker) -> None:
    size = 200_000
    stream = {
        NDJSONDecoder: b'"' + b"x" * size + b'"\n',
        JSONArrayDecoder: b'["' + b"x" * size + b'"]',
        EventStreamDecoder: frames.seal(b"", b"x" * size),
    }[make]
    for step in (1, 100, len(stream)):
        decoder = make()
        count = sum(len(decoder.feed(stream[place : place + step])) for place in range(0, len(stream), step))
        assert count == 1
        assert decoder._work <= 8 * len(stream)


# -- recorded streams ------------------------------------------------------------------------------------


RECORDED = [
    *(
        (entry, EventStreamDecoder)
        for name in ("bedrock-converse", "bedrock-invoke")
        for entry in corpus_entries(name)
    ),
    *((entry, NDJSONDecoder) for name in ("ollama", "cohere-v1") for entry in corpus_entries(name)),
]


@needs_corpus
@pytest.mark.parametrize(
    ("entry", "make"), RECORDED, ids=lambda value: value["file"] if isinstance(value, dict) else ""
)
def test_recorded_streams(entry: dict[str, Any], make: Maker) -> None:
    """As many messages or records as the index says, each of them JSON, nothing left over, at every cut."""
    stream = corpus_stream(entry["file"])
    whole = read(make(), [stream])
    assert (whole.error, whole.leftover) == (None, Leftover(start=len(stream)))
    assert len(whole.frames) == entry["sse_events"]
    for frame in whole.frames:
        assert isinstance(frame, EventStreamMessage | Record)
        assert isinstance(frame.json(), dict)
    for pieces in [cuts.singly(stream), *cuts.at_random(stream, entry["file"], 8)]:
        assert read(make(), pieces) == whole


@needs_corpus
def test_there_are_recorded_streams() -> None:
    assert {make for _, make in RECORDED} == {EventStreamDecoder, NDJSONDecoder}
