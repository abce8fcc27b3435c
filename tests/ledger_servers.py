"""Private PostgreSQL and Redis servers for the tests of the ledgers: Debian's programs, in a directory of their own.

Each server listens on a Unix socket alone and is gone, with its data, when the context ends. What is not
installed, or does not start, is `Missing`, with the reason.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PATIENCE = 30.0
#: A sanitizer that is loaded into the tests is nothing for the servers.
_ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS")
}


class Missing(Exception):  # noqa: N818 - a reason to skip, not a fault
    """The server cannot be had here; the message says why."""


def _program(name: str, folders: Sequence[Path] = ()) -> str:
    for folder in folders:
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    if found is None:
        raise Missing(f"{name} is not installed")
    return found


@contextmanager
def _home(owner: tuple[int, int] | None, kept: Path | None) -> Iterator[Path]:
    """A short path, for a socket's has at most 107 bytes; the server's user's own. kept: one that stays."""
    home = kept or Path(tempfile.mkdtemp(prefix="tg-", dir="/tmp"))
    try:
        if owner is not None:
            os.chown(home, *owner)
        yield home
    finally:
        if kept is None:
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _running(command: Sequence[str], home: Path, stop: signal.Signals, **options: Any) -> Iterator[None]:
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=home, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=_ENVIRONMENT, **options
        )
    try:
        yield
    finally:
        process.send_signal(stop)
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(is_ready: Any, home: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            if is_ready():
                return
            reason = "it does not answer"
        except Exception as error:
            reason = str(error)
        if time.monotonic() > until:
            log = (home / "log").read_text(errors="replace")[-500:]
            raise Missing(f"the server did not start: {reason}; {log}")
        time.sleep(0.02)


def _other_user() -> tuple[tuple[int, int] | None, dict[str, Any]]:
    """Whom PostgreSQL runs as, which refuses to be root: user and group, and how to start a process as them."""
    if os.geteuid() != 0:
        return None, {}
    import pwd  # not on Windows

    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            user, group = entry.pw_uid, entry.pw_gid
            return (user, group), {"user": user, "group": group, "extra_groups": []}
    raise Missing("there is no user whom PostgreSQL would run as")


@contextmanager
def postgres_server(kept: Path | None = None) -> Iterator[str]:
    """The connection string of a PostgreSQL server; it syncs, as a real one does, and ends without a word.

    kept: a directory whose data it takes up again, and which stays; else it is fresh.
    """
    try:
        import psycopg
    except ImportError:
        raise Missing("psycopg is not installed") from None
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    initdb, postgres = _program("initdb", folders), _program("postgres", folders)
    user, options = _other_user()
    with _home(user, kept) as home:
        if not (home / "data").exists():
            words = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
            made = subprocess.run(
                [initdb, "-D", str(home / "data"), *words],
                capture_output=True,
                env=_ENVIRONMENT,
                cwd=home,
                check=False,
                **options,
            )
            if made.returncode:
                raise Missing(f"initdb failed: {made.stderr.decode(errors='replace')[-300:]}")
        command = [postgres, "-D", str(home / "data"), "-k", str(home), "-h", ""]
        url = f"postgresql://postgres@/postgres?host={home}"

        def is_ready() -> bool:
            psycopg.connect(url).close()
            return True

        with _running(command, home, signal.SIGQUIT, **options):
            _wait(is_ready, home)
            yield url


@contextmanager
def redis_server(kept: Path | None = None) -> Iterator[str]:
    """The URL of a Redis server that syncs its append-only file at every write; it ends by kill -9. kept: as above."""
    try:
        import redis
    except ImportError:
        raise Missing("redis-py is not installed") from None
    program = _program("redis-server")
    with _home(None, kept) as home:
        socket = home / "s"
        command = [program, "--port", "0", "--unixsocket", str(socket), "--dir", str(home), "--save", ""]
        command += ["--appendonly", "yes", "--appendfsync", "always"]
        url = f"unix://{socket}"

        def is_ready() -> bool:
            with redis.Redis.from_url(url) as client:
                return bool(client.ping())

        with _running(command, home, signal.SIGKILL):
            _wait(is_ready, home)
            yield url


SERVERS = {"postgres": postgres_server, "redis": redis_server}
