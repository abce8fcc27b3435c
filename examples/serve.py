"""A server on loopback that answers every request with one recorded stream: for examples that need no network.

Rules
 - Standard library alone. It answers one request at a time, and sends the stream in small pieces.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

__all__ = ["serving"]


@contextlib.contextmanager
def serving(path: str, *, pings: bool = False) -> Iterator[str]:
    """The address of a server that sends the file. pings: and then pings, until the client goes away."""
    data = Path(path).read_bytes()

    class Handler(BaseHTTPRequestHandler):
        """One request, one stream, and the connection is over."""

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            with contextlib.suppress(OSError):  # the client went away
                for at in range(0, len(data), 1000):
                    self.wfile.write(data[at : at + 1000])
                while pings:
                    time.sleep(0.05)
                    self.wfile.write(b": ping\n\n")

        do_POST = do_GET  # noqa: N815 - the library's spelling

        def log_message(self, format: str, *values: object) -> None:  # noqa: A002 - the library's name
            """Says nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
