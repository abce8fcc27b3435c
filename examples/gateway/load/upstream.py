"""The load test's model server: paced streams over bare sockets, so that it costs little itself.

Rules
 - The request's header x-stream says which stream to send ("number length pace kill"): pace in events a second, kill
   the number of the event before which the connection is reset, or -1.
 - Each event leaves on its own, as tokens do.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys

from traffic import stream

_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
)
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: on, no time: close() resets


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:] if b": " in line)
        await reader.readexactly(int(fields.get(b"content-length", b"0")))
        number, length, pace, kill = fields[b"x-stream"].split()
        await send(writer, stream(int(number), int(length)).events, float(pace), int(kill))
    except (ConnectionError, asyncio.IncompleteReadError):
        pass  # the client went: that is part of the test
    finally:
        writer.close()


async def send(writer: asyncio.StreamWriter, events: list[bytes], pace: float, kill: int) -> None:
    loop = asyncio.get_running_loop()
    writer.write(_HEAD)
    start = loop.time()
    for at, event in enumerate(events):
        if at == kill:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()
            return
        await asyncio.sleep(max(0.0, start + at / pace - loop.time()))
        writer.write(b"%x\r\n%b\r\n" % (len(event), event))
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def main(port: int) -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", port, backlog=4096)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
