"""The load test's clients: many streams at once through the gateway, each compared byte for byte with what was sent.

Rules
 - It reads over bare sockets, so that it costs little itself.
 - A stream that ended well must be there whole; of one that did not, what came must be its beginning, and nothing of
   it may run.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from dataclasses import asdict, dataclass

from traffic import Stream, stream

import trigate


@dataclass(frozen=True)
class Plan:
    """count streams of length pieces at pace events a second; killed, leaving: the shares cut by either side."""

    port: int
    count: int
    length: int
    pace: float
    killed: float
    leaving: float
    first: int = 0


async def one(plan: Plan, number: int, tally: Counter[str]) -> None:
    rng = random.Random(number * 7919)
    sent = stream(number, plan.length)
    fate = rng.random()
    kill = rng.randrange(len(sent.events)) if fate < plan.killed else -1
    leave = rng.randrange(len(sent.body)) if plan.killed <= fate < plan.killed + plan.leaving else -1
    await asyncio.sleep(rng.random())  # they do not come all at once
    reader, writer = await asyncio.open_connection("127.0.0.1", plan.port)
    try:
        writer.write(
            f"POST {sent.path} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\ncontent-length: 2\r\n"
            f"x-stream: {number} {plan.length} {plan.pace} {kill}\r\n\r\n{{}}".encode()
        )
        body, is_whole = await read(reader, leave)
    finally:
        writer.close()
    judge(sent, body, is_whole, "killed" if kill >= 0 else "left" if leave >= 0 else "ended", tally)


async def read(reader: asyncio.StreamReader, leave: int) -> tuple[bytes, bool]:
    """The body, and whether its last chunk came. leave: after so many bytes nobody reads on; -1 for never."""
    body = bytearray()
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            return bytes(head), False
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
            if 0 <= leave <= len(body):
                return bytes(body), False
    except (ConnectionError, asyncio.IncompleteReadError):
        return bytes(body), False
    return bytes(body), True


def judge(sent: Stream, body: bytes, is_whole: bool, fate: str, tally: Counter[str]) -> None:
    tally[fate] += 1
    tally["bytes"] += len(body)
    tally["events"] += body.count(b"\n\n")
    response = trigate.parse(body, sent.protocol)
    calls = [(call.call_id, call.name, call.arguments) for call in response.released]
    if fate == "ended":
        tally["not identical"] += body != sent.body or not is_whole
        tally["calls lost"] += calls.count(sent.call) < 1
        tally["calls doubled"] += len(calls) > 1
        return
    is_beginning = sent.body.startswith(body) or _is_refused(sent, body)
    tally["not a beginning"] += not is_beginning
    is_over = len(body) >= len(b"".join(sent.events[: sent.terminal]))
    tally["calls of cut streams"] += bool(calls) and not is_over
    tally["cut taken for an end"] += fate == "killed" and is_whole and not _is_refused(sent, body)


def _is_refused(sent: Stream, body: bytes) -> bool:
    """A gate that held a call when the upstream went says so in the protocol's own words, after a beginning."""
    last = body.rstrip(b"\n").rpartition(b"\n\n")
    return b'"error"' in last[2] and sent.body.startswith(last[0])


async def main(plan: Plan) -> None:
    tally: Counter[str] = Counter()
    numbers = range(plan.first, plan.first + plan.count)
    done = await asyncio.gather(*(one(plan, number, tally) for number in numbers), return_exceptions=True)
    for error in done:
        if isinstance(error, BaseException):
            tally[f"client failed: {type(error).__name__}"] += 1
    print(json.dumps({"plan": asdict(plan), "tally": tally}))


if __name__ == "__main__":
    asyncio.run(main(Plan(**json.loads(sys.argv[1]))))
