"""NDJSONDecoder and JSONArrayDecoder: records, the same at every cut, beside slow readings of the formats.

The slow readings are bytes.split and json.loads.
"""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_readings import Reading, read, read_every_way
from trigate import DecodeError, JSONArrayDecoder, Leftover, Limits, NDJSONDecoder, Record, ServerSentEvent

# -- NDJSON --------------------------------------------------------------------------------------------


def ndjson_records(stream: bytes) -> list[str]:
    """The records, read slowly: one a LF, without the white space before it and one CR at its end."""
    lines = stream.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:-1]
    records = [line.lstrip(b" \t\r").removesuffix(b"\r") for line in lines]
    return [record.decode("utf-8", "replace") for record in records if record]


@given(
    st.lists(
        st.sampled_from([b"\n", b"\r", b" ", b"\t", b"{}", b'"\xe2\x80\xa8"', b"\xff", b"\xef\xbb\xbf", b"x"])
    )
)
def test_ndjson_is_what_a_slow_reading_says(parts: list[bytes]) -> None:
    stream = b"".join(parts)
    reading = read_every_way(NDJSONDecoder, stream)
    assert [frame.data for frame in reading.frames if isinstance(frame, Record)] == ndjson_records(stream)
    assert reading.error is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
blanks = st.text(" \t\r\n", max_size=3)


@given(
    st.lists(json_values, max_size=5), st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n", " \r\n \t\n"])
)
def test_ndjson_records_are_the_values_of_json(values: list[Any], is_ascii: bool, end: str) -> None:
    text = "".join(json.dumps(value, ensure_ascii=is_ascii) + end for value in values)
    stream = text.encode("utf-8")
    for errors in ("replace", "strict"):
        whole = read_every_way(lambda errors=errors: NDJSONDecoder(errors=errors), stream)  # type: ignore[misc]
        assert [frame.json() for frame in whole.frames if isinstance(frame, Record)] == values
        assert whole.error is None
        assert whole.leftover == Leftover(start=len(stream))
        for start, data_start, stop in whole.places:
            assert start == data_start
            assert stream[start:stop].endswith(b"\n")


def test_ndjson_last_record_without_its_line_end_is_left_over() -> None:
    assert read_every_way(NDJSONDecoder, b'{}\n{"done":true}') == Reading(
        (Record("{}"),), ((0, 0, 3),), None, Leftover("line", b'{"done":true}', '{"done":true}', start=3)
    )
    assert read_every_way(NDJSONDecoder, b'"\xe4\xbd').leftover == Leftover(
        "character", b'"\xe4\xbd', '"\ufffd'
    )
    assert read_every_way(NDJSONDecoder, b"1\n \r\n").leftover == Leftover(start=5)


# -- a JSON array ----------------------------------------------------------------------------------------


@st.composite
def arrays(draw: st.DrawFn) -> tuple[str, list[Any]]:
    values = draw(st.lists(json_values, max_size=5))
    is_ascii = draw(st.booleans())
    texts = [
        json.dumps(value, ensure_ascii=is_ascii, indent=draw(st.sampled_from([None, 1]))) for value in values
    ]
    spaced = [draw(blanks) + text + draw(blanks) for text in texts]
    inside = ",".join(spaced) or draw(blanks)
    return draw(blanks) + "[" + inside + "]" + draw(blanks), values


@given(arrays(), st.booleans())
def test_array_elements_are_the_values_of_json(array: tuple[str, list[Any]], has_bom: bool) -> None:
    text, values = array
    assert json.loads(text) == values
    stream = b"\xef\xbb\xbf" * has_bom + text.encode("utf-8")
    whole = read_every_way(lambda: JSONArrayDecoder(errors="strict"), stream)
    found = [frame for frame in whole.frames if isinstance(frame, Record)]
    assert [frame.json() for frame in found] == values
    assert whole.leftover == Leftover(start=len(stream))
    for frame, (start, data_start, end) in zip(found, whole.places, strict=True):
        assert start == data_start
        assert stream[start:end] == frame.data_bytes


@given(st.lists(st.sampled_from(list('[]{}",:\\ \n1x')), max_size=12).map("".join))
def test_array_accepts_every_array_and_finds_no_other_elements(text: str) -> None:
    """What json takes for an array gives its elements; anything else an error, a rest, or a bad element."""
    reading = read_every_way(JSONArrayDecoder, text.encode())
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, list):
        assert reading.error is None
        assert reading.leftover == Leftover(start=len(text))
        assert [frame.json() for frame in reading.frames if isinstance(frame, Record)] == value
    elif reading.error is None and reading.leftover is not None and reading.leftover.where is None:
        # Brackets and strings are right, so an element is at fault, and says so itself.
        with pytest.raises(DecodeError):
            _ = [frame.json() for frame in reading.frames if isinstance(frame, Record)]


@given(arrays(), st.data())
def test_array_cut_anywhere_is_never_whole(array: tuple[str, list[Any]], data: st.DataObject) -> None:
    stream = array[0].encode("utf-8")
    end = data.draw(st.integers(0, stream.rindex(b"]")))
    reading = read(JSONArrayDecoder(), [stream[:end]])
    assert reading.error is None
    assert reading.leftover is not None
    assert reading.leftover.where in ("event", "character")


@pytest.mark.parametrize(
    ("text", "code", "offset"),
    [
        ("{}", "invalid_json", 0),
        (" x", "invalid_json", 1),
        ("[1,,2]", "invalid_json", 3),
        ("[1 2]", "invalid_json", 3),
        ("[{}{}]", "invalid_json", 3),
        ("[1,]", "invalid_json", 3),
        ("[{]", "invalid_json", 2),
        ("[] x", "trailing_text", 3),
        ("[][]", "trailing_text", 2),
    ],
)
def test_array_errors_name_their_byte(text: str, code: str, offset: int) -> None:
    assert read_every_way(JSONArrayDecoder, text.encode()).error == ("DecodeError", code, offset, None)


def test_array_depth_counts_the_array() -> None:
    deep = b"[" * 5 + b"]" * 5
    assert read(JSONArrayDecoder(limits=Limits(max_depth=5)), [deep]).error is None
    reading = read_every_way(lambda: JSONArrayDecoder(limits=Limits(max_depth=4)), deep)
    assert reading.error == ("LimitError", "depth_too_large", 4, "max_depth")


# -- the object -------------------------------------------------------------------------------------------


def test_record() -> None:
    record = Record('{"a":"é"}')
    [read_back] = NDJSONDecoder().feed('\n{"a":"é"}\n'.encode())
    assert record == read_back
    assert hash(record) == hash(read_back)
    assert record != Record("{}")
    assert record != ServerSentEvent(data=record.data)
    assert repr(record) == """Record('{"a":"é"}')"""
    assert (record.event, record.start, record.end) == ("message", None, None)
    assert (read_back.start, read_back.data_start, read_back.end) == (1, 1, 12)
    assert record.json() == {"a": "é"}
    assert pickle.loads(pickle.dumps(read_back)) == record
    match read_back:
        case Record(data):
            assert data == record.data
    with pytest.raises(AttributeError):
        record.data = ""  # type: ignore[misc]
    with pytest.raises(DecodeError) as caught:
        Record("é x").json()
    assert (caught.value.code, caught.value.offset) == ("invalid_json", 0)
    wrong: Any = Record
    for arguments in ((b"x",), (None,), (1, 2)):
        with pytest.raises(TypeError):
            wrong(*arguments)
