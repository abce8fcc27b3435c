"""Writes the seed corpora of the fuzzers: each vector behind a few choices of option bytes.

usage: make_seeds.py VECTORS_FOLDER OUT_FOLDER   (makes the folders sse, json, framers and
predict in it)
"""

import base64
import json
import pathlib
import struct
import sys
import zlib

LONGEST = 4096  # -max_len of the fuzzers

# fuzz_sse: flags, line limit, event limit, id and retry limits, then eight cuts.
SSE_OPTIONS = [
    bytes([0, 255, 255, 255]) + bytes([1] * 8),
    bytes([3, 255, 255, 255]) + bytes([5, 1, 7, 1, 30, 2, 255, 0]),
    bytes([7, 24, 16, 0x33]) + bytes([3] * 8),
    bytes([0x3A, 255, 40, 255]) + bytes([9] * 8),
]
# fuzz_json: depth limit, then eight cuts.
JSON_OPTIONS = [bytes([255]) + bytes([1] * 8), bytes([4]) + bytes([3, 1, 7, 0, 30, 2, 255, 1])]

# fuzz_framers: framing and flags, event limit, depth and header limit, a byte unused, then eight cuts.
FRAMER_TAILS = [bytes([255, 255, 0]) + bytes([1] * 8), bytes([20, 3, 0]) + bytes([5, 1, 7, 1, 30, 2, 255, 0])]
NDJSON = [
    b'{"a":1}\n[2]\r\n\n \xe2\x80\xa8\n3',
    b'\xef\xbb\xbf{"message":{"content":"\xff"}}\n',
    b"\xef\xbb\n1\r2\n",
]
ARRAYS = [b'[{"a":[1]}\r\n, 12 ,"]\\"", null]\n', b"\xef\xbb\xbf[[[]],{}]", b"[1,,2]", b'["\xe2\x80']


def message(headers: bytes, payload: bytes) -> bytes:
    """One event-stream message."""
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return body + struct.pack(">I", zlib.crc32(body))


MESSAGES = [
    message(b"", b"") * 2,
    message(b"\x0b:event-type\x07\x00\x01x\x01a\x00", b'{"a":1}') + message(b"", b"\xff"),
    message(
        b"\x01a\x00\x01b\x01\x01c\x02\x80\x01d\x03\xff\xfe\x01e\x04\0\0\0\1\x01f\x05"
        + bytes(8)
        + b"\x01g\x06\0\2xy",
        b"",
    ),
    message(b"\x01h\x08" + bytes(8) + b"\x01i\x09" + bytes(range(16)) + b"\x01a\x00\x01a\x01", b"payload"),
]


def write_framers(folder: pathlib.Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    inputs = [(0, text) for text in NDJSON] + [(1, text) for text in ARRAYS]
    inputs += [(framing, text) for text in MESSAGES for framing in (2, 3)]
    seeds = [
        bytes([framing | flags]) + tail + text
        for framing, text in inputs
        for tail in FRAMER_TAILS
        for flags in (0, 4, 8, 0x18)
    ]
    for number, seed in enumerate(seeds):
        (folder / f"{number:04}").write_bytes(seed)
    return len(seeds)


# fuzz_predict: framing and flags, lines, two rooms, two limits, a refused allocation, the first number, eight cuts.
PREDICT_OPTIONS = [
    bytes([255, 255, 255, 255, 0, 1]) + bytes([1] * 8),
    bytes([9, 255, 255, 255, 5, 8]) + bytes([40, 3, 90, 200, 1, 70, 0, 210]),
    bytes([255, 30, 70, 80, 0x43, 98]) + bytes([60] * 8),
]


def event(template: int, text: bytes = b"", flags: int = 0, extra: bytes = b"") -> bytes:
    """One event of a script: the number of its template, flags (0x20: `extra` begins with a type), its text."""
    type_byte, change = (extra[:1], extra[1:]) if flags & 0x20 else (b"", extra)
    return bytes([template, flags | len(text)]) + type_byte + text + change


SCRIPTS = [
    b"".join(event(template, text) for text in (b"a", b"bc", b"", b"d") for template in range(9)),
    b"".join(
        event(0, text) for text in (b"a", b"\\n", b"\\ud83d\\ude00", b"\xf0\x9f\x98\x80", b"\\ud83d", b"x")
    ),
    event(0, b"a") * 4 + event(0, b"a", 0x40) + event(0, b"a", 0x80) + event(0, b"a") * 3,
    (event(0, b"a", 0x20, b"\0") + event(3, b"{", 0x20, b"\1")) * 4 + event(0, b"b", 0x30, b"\3\x05x"),
    event(1, b"a") * 3
    + b"\xc7: c\n\nid"
    + b"\xc7id: 1\n\n"
    + event(1, b"a") * 3
    + b"\xcaretry: 1\n\n"
    + event(1, b"b"),
    event(5, b"a")
    + event(6, b"b")
    + event(5, b"c")
    + event(6, b"")
    + event(5, b"d", 0x10, b"\x14x")
    + event(5, b"e"),
    event(9, b"{}") + (event(7, b"a") + event(8, b"b")) * 4,
]


def write_predict(folder: pathlib.Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    seeds = [
        bytes([framing | flags, lines]) + options + script
        for script in SCRIPTS
        for options in PREDICT_OPTIONS
        for framing in range(4)
        for flags, lines in ((0, 0), (4, 1), (8, 14))
    ]
    for number, seed in enumerate(seeds):
        (folder / f"{number:04}").write_bytes(seed)
    return len(seeds)


def write(folder: pathlib.Path, vectors: pathlib.Path, member: str, options: list[bytes]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for number, vector in enumerate(json.loads(vectors.read_text("ascii"))):
        data = base64.b64decode(vector[member])
        for choice, prefix in enumerate(options):
            if len(prefix) + len(data) <= LONGEST:
                (folder / f"{number:04}-{choice}").write_bytes(prefix + data)
                count += 1
    return count


def main() -> None:
    vectors, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    count = write(out / "sse", vectors / "sse.json", "input_b64", SSE_OPTIONS)
    count += write(out / "json", vectors / "json_boundary.json", "text_b64", JSON_OPTIONS)
    count += write_framers(out / "framers")
    count += write_predict(out / "predict")
    print(f"{count} seeds in {out}")


if __name__ == "__main__":
    main()
