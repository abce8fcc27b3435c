"""A model API on the loopback interface: it answers every first request with one stream of bytes.

Rules
 - The bytes go out as they are, one HTTP chunk each kilobyte, and the body then ends cleanly: that is what
   a proxy or a server that gives up does, and a client's HTTP layer notices nothing. `broken` drops the
   connection instead.
 - The second request of a conversation gets 400: that it was made is all that is of interest.
 - Nothing here leaves the machine.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Loopback"]

PIECE = 1024


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.requests += self.path.startswith(self.server.place)
        if self.server.requests != 1 or not self.path.startswith(self.server.place):
            self.send_error(400, "the conversation is over")
            return
        self.send_response(200)
        self.send_header("content-type", self.server.content_type)
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        body = self.server.body
        for start in range(0, len(body), PIECE):
            piece = body[start : start + PIECE]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if not self.server.broken:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    body = b""
    content_type = "text/event-stream"
    broken = False
    requests = 0
    place = "/0/"


class Loopback:
    """The server, in a thread of its own, until the process ends."""

    def __init__(self) -> None:
        self._number = 0
        self._server = _Server(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Another one after each `answer_with`, so that what comes late is known for what it is."""
        return f"http://127.0.0.1:{self._server.server_port}{self._server.place[:-1]}"

    @property
    def requests(self) -> int:
        """How many requests came since the last `answer_with`."""
        return self._server.requests

    def answer_with(self, body: bytes, *, broken: bool = False) -> None:
        """The next request gets this body."""
        self._number += 1
        self._server.place = f"/{self._number}/"
        self._server.body, self._server.broken, self._server.requests = body, broken, 0
