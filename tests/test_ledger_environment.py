"""A ledger's surroundings: full, read-only, damaged and foreign files, servers that refuse, forget, or are gone.

Each is a LedgerError that says which, and nothing that was written gets lost.
"""

from __future__ import annotations

import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from ledger_servers import SERVERS, Missing, redis_server
from ledgers import digest, key, run_python
from trigate.ledger import Ask, LedgerError, PostgresLedger, RedisLedger, SQLiteLedger, open_ledger

A = digest("a")


# -- the file and the disk -------------------------------------------------------------------------


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(LedgerError) as caught:
        SQLiteLedger(path, **options)
    assert caught.value.layer == "environment"
    assert str(path) in str(caught.value) or "schema version" in str(caught.value)
    return caught.value.code


def test_what_is_no_ledger_is_not_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    assert refused(path, mode="rw") == "ledger_unavailable"
    assert not path.exists()
    assert refused(tmp_path / "nowhere" / "x.db") == "ledger_unavailable"
    path.write_bytes(b"some text, long enough to have a head" * 100)
    assert refused(path) == "ledger_corrupt"
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text)")
    other.close()
    before = path.read_bytes()
    assert refused(path) == "not_a_ledger"
    assert refused(path, mode="ro") == "not_a_ledger"
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["x.db"]
    path.unlink()
    SQLiteLedger(path).close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    other.close()
    assert refused(path) == "ledger_version"
    with pytest.raises(ValueError, match="mode must be"):
        SQLiteLedger(path, mode="w")  # type: ignore[arg-type]


def test_it_syncs_every_commit(tmp_path: Path) -> None:
    with SQLiteLedger(tmp_path / "x.db") as ledger, ledger._using() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_a_row_that_contradicts_itself_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with SQLiteLedger(path) as ledger:
        ledger.succeed(ledger.claim(key(), A), 1)
        other = sqlite3.connect(path)
        other.execute("UPDATE entries SET tool = 'another'")
        other.commit()
        other.close()
        for look in (lambda: ledger.claim(key(), A), lambda: ledger.get(key()), ledger.entries):
            with pytest.raises(LedgerError, match="a row of the ledger cannot be read") as caught:
                look()
            assert caught.value.code == "ledger_corrupt"


def test_a_lock_that_is_never_given_back_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with SQLiteLedger(path, timeout=0.02) as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="locked") as caught:
            ledger.claim(key(), A)
        assert caught.value.code == "ledger_busy"
        other.execute("ROLLBACK")
        other.close()
        assert ledger.claim(key(), A).outcome == "claimed"


FULL = """
import resource, sys
from trigate.ledger import Key, LedgerError, SQLiteLedger
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
ledger = SQLiteLedger(sys.argv[1])
done, refused = 0, 0
for number in range(60):
    key = Key("s", "r", f"c{number}", "t")
    try:
        claim = ledger.claim(key, "a" * 64)
        ledger.succeed(claim, "x" * 10_000)
        done += 1
    except LedgerError as error:
        assert error.layer == "environment", error
        assert error.code in ("ledger_full", "ledger_io"), error
        refused += 1
print(done, refused)
"""


def test_a_file_that_may_not_grow_is_told_and_what_was_written_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    done, refused_ = map(int, run_python("-c", FULL, str(path)).split())
    assert done > 0
    assert refused_ > 0
    assert done + refused_ == 60
    with SQLiteLedger(path) as ledger:
        results = [entry.result for entry in ledger.entries("succeeded")]
        assert results == ["x" * 10_000] * done
        assert ledger.claim(key(), A).outcome == "claimed"


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    try:
        made = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if made.returncode:
        pytest.skip(f"no small disk can be mounted here: {made.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_told_and_with_room_it_goes_on(tiny_disk: Path) -> None:
    with SQLiteLedger(tiny_disk / "x.db") as ledger:
        held = ledger.claim(key(1), A)
        ballast = tiny_disk / "ballast"
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        with pytest.raises(LedgerError) as caught:
            ledger.succeed(held, "x" * 20_000)
        assert (caught.value.layer, caught.value.code) == ("environment", "ledger_full")
        entry = ledger.get(key(1))
        assert entry is not None
        assert entry.state == "claimed"
        ballast.unlink()
        ledger.succeed(held, "x" * 20_000)
        assert ledger.claim(key(2), A).outcome == "claimed"


READ_ONLY = """
import os, sys
from trigate.ledger import Key, LedgerError, SQLiteLedger, StaleClaim
import trigate.ledger.sqlite
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)  # nothing is read-only for root
for mode in ("rwc", "rw", "ro"):
    try:
        with SQLiteLedger(sys.argv[1], mode=mode) as ledger:
            entry = ledger.get(Key("test", "resp_1", "call_1", "transfer"))
            print(mode, "reads", entry.state)
            ledger.claim(Key("s", "r", "c", "t"), "a" * 64)
    except LedgerError as error:
        print(mode, error.layer, error.code)
"""


def test_a_file_that_may_not_be_written_is_told() -> None:
    with tempfile.TemporaryDirectory(prefix="tg-", dir="/tmp") as folder:
        path = Path(folder, "x.db")
        with SQLiteLedger(path) as ledger:
            ledger.succeed(ledger.claim(key(1), A), 1)
            for each in Path(folder).iterdir():
                each.chmod(0o444)
            Path(folder).chmod(0o555)
            printed = run_python("-c", READ_ONLY, str(path)).splitlines()
        Path(folder).chmod(0o755)
    assert {line.split()[0] for line in printed} == {"rwc", "rw", "ro"}
    ends = [line.split()[1:] for line in printed if "reads" not in line]
    assert len(ends) == 3
    for layer, code in ends:
        assert layer == "environment"
        assert code in ("ledger_read_only", "ledger_unavailable")


# -- the servers -----------------------------------------------------------------------------------


def test_a_session_that_the_server_ended_is_told_and_replaced(postgres_url: str) -> None:
    with (
        PostgresLedger(postgres_url, table="ended") as ledger,
        PostgresLedger(postgres_url, table="ended") as other,
    ):
        claim = ledger.claim(key(), A)
        with ledger._using() as connection, other._using() as judge:
            judge.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
        with pytest.raises(LedgerError) as caught:
            ledger.succeed(claim, 1)
        assert (caught.value.layer, caught.value.code) == ("environment", "ledger_unavailable")
        assert ledger.succeed(claim, 1).state == "succeeded"


def test_postgres_says_why_it_refuses(postgres_url: str) -> None:
    def code_of(url: str, **options: Any) -> str:
        with pytest.raises(LedgerError) as caught, PostgresLedger(url, **options) as ledger:
            ledger.claim(key(), A)
        assert caught.value.layer == "environment"
        return caught.value.code

    assert code_of(postgres_url + "x") == "ledger_unavailable"
    assert code_of(postgres_url, table="missing", create=False) == "not_a_ledger"
    with PostgresLedger(postgres_url, table="refusing") as ledger, ledger._using() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS foreign_table (id text)")
        connection.execute("SET synchronous_commit = off")
    assert code_of(postgres_url, table="foreign_table") == "not_a_ledger"
    read_only = f"{postgres_url}&options=-c%20default_transaction_read_only%3Don"
    assert code_of(read_only, table="refusing") == "ledger_read_only"
    unsafe = f"{postgres_url}&options=-c%20synchronous_commit%3Doff"
    with PostgresLedger(unsafe, table="refusing") as ledger, ledger._using() as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
        connection.execute("COMMENT ON TABLE refusing IS 'trigate ledger 99'")
    assert code_of(postgres_url, table="refusing") == "ledger_version"
    with pytest.raises(ValueError, match="a plain name"):
        PostgresLedger(postgres_url, table='x"; DROP TABLE y')


def test_a_row_lock_that_is_held_too_long_is_told(postgres_url: str) -> None:
    with (
        PostgresLedger(postgres_url, table="held") as holder,
        PostgresLedger(postgres_url, table="held", timeout=0.05) as ledger,
    ):
        claim = holder.claim(key(), A)
        with holder._using() as connection, connection.transaction():
            connection.execute("SELECT * FROM held FOR UPDATE")
            with pytest.raises(LedgerError) as caught:
                ledger.succeed(claim, 1)
        assert caught.value.code == "ledger_busy"
        ledger.succeed(claim, 1)


@pytest.mark.parametrize("backend", SERVERS)
def test_a_server_that_is_killed_has_it_all_when_it_is_back(backend: str) -> None:
    with tempfile.TemporaryDirectory(prefix="tg-", dir="/tmp") as folder:
        home = Path(folder)
        with ExitStack() as stack:
            try:
                with SERVERS[backend](home) as url:
                    ledger = stack.enter_context(open_ledger(url))
                    claims = ledger.claim_many([Ask(key(number), A) for number in range(20)])
                    for claim in claims[:10]:
                        ledger.succeed(claim, claim.key.call)
            except Missing as reason:
                pytest.skip(str(reason))
            with pytest.raises(LedgerError) as caught:
                ledger.succeed(claims[10], 1)
            assert caught.value.code == "ledger_unavailable"
            with SERVERS[backend](home):
                succeeded = {entry.key: entry.result for entry in ledger.entries("succeeded")}
                assert succeeded == {claim.key: claim.key.call for claim in claims[:10]}
                assert {entry.key for entry in ledger.entries("claimed")} == {
                    claim.key for claim in claims[10:]
                }
                ledger.succeed(claims[10], 1)


@pytest.fixture
def own_redis() -> Iterator[str]:
    try:
        with redis_server() as url:
            yield url
    except Missing as reason:
        pytest.skip(str(reason))


def test_a_redis_that_may_forget_is_refused(own_redis: str) -> None:
    import redis

    def code_of(**options: Any) -> str:
        with pytest.raises(LedgerError) as caught:
            RedisLedger(own_redis, **options)
        assert caught.value.layer == "environment"
        return caught.value.code

    assert code_of(create=False) == "not_a_ledger"
    with redis.Redis.from_url(own_redis) as client:
        client.config_set("maxmemory", "100mb")
        client.config_set("maxmemory-policy", "allkeys-lru")
        assert code_of() == "ledger_not_durable"
        client.config_set("maxmemory-policy", "noeviction")
        RedisLedger(own_redis).close()
        client.config_set("appendonly", "no")
        assert code_of() == "ledger_not_durable"
        RedisLedger(own_redis, may_forget=True).close()
        client.set("{other}:version", 99)
        assert code_of(prefix="other") == "ledger_version"


def test_redis_says_why_it_refuses(own_redis: str) -> None:
    import redis

    with RedisLedger(own_redis) as ledger, redis.Redis.from_url(own_redis) as client:
        claim = ledger.claim(key(), A)
        client.config_set("maxmemory", 1)
        with pytest.raises(LedgerError) as caught:
            ledger.succeed(claim, 1)
        assert (caught.value.layer, caught.value.code) == ("environment", "ledger_full")
        client.config_set("maxmemory", 0)
        client.replicaof("127.0.0.1", "1")
        with pytest.raises(LedgerError) as caught:
            ledger.succeed(claim, 1)
        assert (caught.value.layer, caught.value.code) == ("environment", "ledger_read_only")
        client.replicaof("NO", "ONE")
        assert ledger.succeed(claim, 1).state == "succeeded"


def test_a_call_that_becomes_unknown_while_redis_lists_them_is_listed_once(redis_url: str) -> None:
    with RedisLedger(redis_url, prefix="moving") as ledger, RedisLedger(redis_url, prefix="moving") as other:
        claims = other.claim_many([Ask(key(number), A) for number in range(300)])
        read = ledger._client.zrange

        def zrange(name: str, *bounds: int) -> Any:
            ids = read(name, *bounds)
            if name.endswith(":claimed"):
                for claim in claims[100:]:
                    other.give_up(claim, "x")
            return ids

        ledger._client.zrange = zrange
        listed = [entry.key.call for entry in ledger.entries("unknown")]
        assert sorted(listed) == sorted(claim.key.call for claim in claims[100:])


def test_a_server_that_is_gone_is_told() -> None:
    try:
        with redis_server() as url:
            ledger = RedisLedger(url)
            claim = ledger.claim(key(), A)
    except Missing as reason:
        pytest.skip(str(reason))
    for use in (lambda: ledger.succeed(claim, 1), lambda: ledger.claim(key(1), A), ledger.entries):
        with pytest.raises(LedgerError) as caught:
            use()
        assert (caught.value.layer, caught.value.code) == ("environment", "ledger_unavailable")
    ledger.close()
    with pytest.raises(LedgerError):
        RedisLedger(url)
    assert not Path(url.removeprefix("unix://")).exists()
