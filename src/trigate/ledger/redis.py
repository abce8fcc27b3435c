"""RedisLedger: a ledger in Redis. Fast, and weaker than the others: see docs/ledger.md.

Rules
 - A change reads entries and the server's time in one script, decides, and writes them in another one, which writes
   nothing unless every entry still has the revision that was read. Else it is made anew.
 - The server must not forget: append-only file on, no eviction. Else LedgerError (ledger_not_durable), unless allowed.
 - A replica that becomes the primary may lack the last claims, and those calls could run again: Redis acknowledges
   a write before a replica has it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from trigate.ledger.entry import Entry, State
from trigate.ledger.errors import LedgerError
from trigate.ledger.optimistic import OptimisticLedger
from trigate.ledger.rows import SCHEMA_VERSION, entry_of, row_of, wrong_version

__all__ = ["RedisLedger"]

_PAGE = 200
#: Where to look for a state. Claimed before unknown: what goes from one to the other meanwhile is not missed.
_INDICES: dict[State | None, tuple[str, ...]] = {None: ("all",), "unknown": ("claimed", "unknown")}
#: Indices that no entry leaves.
_GROWING = ("all", "succeeded")

# KEYS: entries. Returns the time in seconds and microseconds, then each row or false.
_READ = """
local found = redis.call('TIME')
for i = 1, #KEYS do
  found[#found + 1] = redis.call('HGET', KEYS[i], 'row')
end
return found
"""
# KEYS: entries. ARGV: the prefix of the indices, then for each entry: revision read, revision, id, state, created, row.
_WRITE = """
for i = 1, #KEYS do
  local at = (i - 1) * 6 + 2
  if (redis.call('HGET', KEYS[i], 'revision') or '0') ~= ARGV[at] then
    return 0
  end
end
for i = 1, #KEYS do
  local at = (i - 1) * 6 + 2
  local id, state, created = ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local old = redis.call('HGET', KEYS[i], 'state')
  redis.call('HSET', KEYS[i], 'revision', ARGV[at + 1], 'state', state, 'row', ARGV[at + 5])
  if old and old ~= state then
    redis.call('ZREM', ARGV[1] .. old, id)
  end
  redis.call('ZADD', ARGV[1] .. state, created, id)
  redis.call('ZADD', ARGV[1] .. 'all', created, id)
end
return 1
"""


class RedisLedger(OptimisticLedger):
    """A ledger in a Redis server (6 or newer). Needs redis-py: `pip install 'trigate[redis]'`.

    url       as redis-py takes it: redis://host:port/db, rediss://, unix://
    prefix    what all its keys begin with, in braces, so that a cluster keeps them in one slot
    timeout   seconds to wait for the server before LedgerError
    create    False: a prefix without a ledger is a LedgerError (not_a_ledger)
    may_forget  True: a server without an append-only file, or with eviction, is taken all the same
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "trigate:ledger",
        timeout: float = 10.0,
        create: bool = True,
        may_forget: bool = False,
    ) -> None:
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise ImportError("RedisLedger needs redis-py: pip install 'trigate[redis]'") from error
        self._redis = redis
        self._name = f"{{{prefix}}}"
        # One attempt: a script that ran, but whose answer got lost, must not be sent again unseen.
        self._client: Any = redis.Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
        )
        self._read_script = self._client.register_script(_READ)
        self._write_script = self._client.register_script(_WRITE)
        self._is_closed = False
        try:
            with self._told():
                self._check_schema(create)
                if not may_forget:
                    self._check_memory()
        except BaseException:
            self._client.close()
            raise

    def _check_schema(self, create: bool) -> None:
        if create:
            self._client.set(f"{self._name}:version", SCHEMA_VERSION, nx=True)
        version = self._client.get(f"{self._name}:version")
        if version is None:
            raise LedgerError(f"the server has no ledger under {self._name}", code="not_a_ledger")
        if version != str(SCHEMA_VERSION):
            raise wrong_version(version)

    def _check_memory(self) -> None:
        """A server that forgets a claim would let the call run again."""
        if not int(self._client.info("persistence").get("aof_enabled", 0)):
            raise LedgerError(
                "the server has no append-only file, so a restart forgets claims: set appendonly yes and "
                "appendfsync always, or accept that with may_forget=True",
                code="ledger_not_durable",
            )
        memory = self._client.info("memory")
        policy = memory.get("maxmemory_policy", "noeviction")
        if int(memory.get("maxmemory", 0)) and policy != "noeviction":
            raise LedgerError(
                f"the server evicts keys ({policy}), so it may forget claims: set maxmemory-policy noeviction, or "
                "accept that with may_forget=True",
                code="ledger_not_durable",
            )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """The server's errors as LedgerErrors."""
        if self._is_closed:
            raise RuntimeError("the ledger is closed")
        try:
            yield
        except (self._redis.RedisError, OSError) as error:
            words = str(error)
            code = "ledger_unavailable"
            if (
                isinstance(error, self._redis.exceptions.OutOfMemoryError)
                or "OOM" in words
                or "MISCONF" in words
            ):
                code = "ledger_full"
            elif isinstance(error, self._redis.exceptions.ReadOnlyError) or "NOPERM" in words:
                code = "ledger_read_only"
            raise LedgerError(f"the ledger under {self._name} cannot be used: {words}", code=code) from error

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._client.close()

    # -- what the contract asks for

    def _fetch(self, ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        with self._told():
            seconds, micros, *rows = self._read_script(keys=[self._key(id_) for id_ in ids])
        found = {id_: _entry(row) for id_, row in zip(ids, rows, strict=True) if row is not None}
        return int(seconds) * 1_000_000 + int(micros), found

    def _store(self, changed: Sequence[Entry], found: Mapping[str, Entry]) -> bool:
        words: list[str | int] = [f"{self._name}:"]
        for entry in changed:
            id_ = entry.key.id
            old = found[id_].revision if id_ in found else 0
            row = json.dumps(row_of(entry), ensure_ascii=False)
            words += [old, entry.revision, id_, entry.state, entry.created, row]
        with self._told():
            return bool(self._write_script(keys=[self._key(entry.key.id) for entry in changed], args=words))

    def _key(self, id_: str) -> str:
        return f"{self._name}:entry:{id_}"

    def _select(self, state: State | None, scope: str | None, limit: int) -> tuple[int, list[Entry]]:
        now = 0
        chosen: dict[str, Entry] = {}
        for index in _INDICES.get(state, (str(state),)):
            taken = 0
            for now, entry in self._walk(index):
                is_over = entry.state == "claimed" and (entry.lease_until or 0) <= now
                if scope in (None, entry.key.scope) and state in (
                    None,
                    "unknown" if is_over else entry.state,
                ):
                    chosen[entry.key.id] = entry
                    taken += 1
                    if taken == limit:
                        break
        in_order = sorted(chosen.values(), key=lambda entry: (entry.created, entry.key.id))
        return now, in_order[:limit]

    def _walk(self, index: str) -> Iterator[tuple[int, Entry]]:
        """The entries of an index, the oldest first, each with the time. One may come twice: others write meanwhile."""
        for ids in self._pages(index):
            now, found = self._fetch(ids)
            for entry in found.values():
                yield now, entry

    def _pages(self, index: str) -> Iterator[list[str]]:
        """The ids of an index. Those that entries leave are read at once: what leaves would move the next page."""
        size = _PAGE if index in _GROWING else 0
        start = 0
        while True:
            with self._told():
                ids: list[str] = self._client.zrange(f"{self._name}:{index}", start, start + size - 1)
            for at in range(0, len(ids), _PAGE):
                yield ids[at : at + _PAGE]
            if not size or not ids:
                return
            start += len(ids)

    def _overdue(self, limit: int) -> list[Entry]:
        overdue = []
        for now, entry in self._walk("claimed"):
            if entry.state == "claimed" and (entry.lease_until or 0) <= now:
                overdue.append(entry)
                if len(overdue) == limit:
                    break
        return overdue

    def _find(self, prefix: str) -> tuple[int, list[Entry]]:
        with self._told():
            pairs = self._client.zscan_iter(f"{self._name}:all", match=f"{prefix}*", count=1000)
            ids: list[str] = []
            for id_, _ in pairs:
                if id_ not in ids:
                    ids.append(id_)
                if len(ids) == 2:
                    break
        now, found = self._fetch(ids)
        return now, list(found.values())


def _entry(row: str) -> Entry:
    try:
        values = json.loads(row)
    except ValueError as error:
        raise LedgerError(f"a row of the ledger cannot be read: {error}", code="ledger_corrupt") from error
    return entry_of(values)
