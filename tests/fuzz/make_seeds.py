"""Writes the seed corpora of the fuzzers: each vector behind a few choices of option bytes.

usage: make_seeds.py VECTORS_FOLDER OUT_FOLDER   (makes OUT_FOLDER/sse and OUT_FOLDER/json)
"""

import base64
import json
import pathlib
import sys

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
    print(f"{count} seeds in {out}")


if __name__ == "__main__":
    main()
