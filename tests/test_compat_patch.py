"""Patches of an SDK's point: put in and taken out in any order, for one client or all, by any thread.

A stand-in of an SDK is patched here, so that nothing has to be installed: the parts of one that the point touches.
"""

from __future__ import annotations

import gc
import inspect
import sys
import threading
import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from trigate.compat.patching import Patch
from trigate.compat.sdk_point import SDKPoint


class SSEDecoder:
    def iter_bytes(self) -> None: ...


class BaseClient:
    def _make_sse_decoder(self) -> Any:
        return "own"


class Client(BaseClient):
    def __init__(self, timeout: int = 1) -> None:
        self.timeout = timeout

    def copy(self, *, timeout: int = 1) -> Client:
        """A client with other options."""
        return self.__class__(timeout)

    with_options = copy


class FramesClient(Client):
    def _make_sse_decoder(self) -> Any:
        return "frames"


@pytest.fixture
def point(monkeypatch: pytest.MonkeyPatch) -> SDKPoint:
    package, module = ModuleType("standin"), ModuleType("standin._base_client")
    package.__dict__["__version__"] = "9.9"
    module.__dict__.update(BaseClient=BaseClient, SSEDecoder=SSEDecoder)
    monkeypatch.setitem(sys.modules, "standin", package)
    monkeypatch.setitem(sys.modules, "standin._base_client", module)
    return SDKPoint("standin")


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """Whatever a test does: with its patches out, the class is what it was."""
    before = BaseClient.__dict__["_make_sse_decoder"]
    yield
    assert BaseClient.__dict__["_make_sse_decoder"] is before


def decoder(client: BaseClient) -> Any:
    return client._make_sse_decoder()


def put(point: SDKPoint, client: object | None, name: str) -> Patch:
    return point.patch(client, lambda original: (name, original()))


# -- the process -------------------------------------------------------------------------------------


def test_clients_made_before_and_after(point: SDKPoint) -> None:
    before = Client()
    with put(point, None, "a"):
        assert decoder(before) == decoder(Client()) == ("a", "own")
        assert decoder(FramesClient()) == "frames"
    assert decoder(before) == decoder(Client()) == "own"


def test_the_latest_that_is_in_counts_in_whatever_order_they_go(point: SDKPoint) -> None:
    client = Client()
    first, second, third = (put(point, None, name) for name in "abc")
    assert decoder(client) == ("c", "own")
    second.undo()
    assert decoder(client) == ("c", "own")
    third.undo()
    third.undo()
    assert decoder(client) == ("a", "own")
    assert (first.is_in, second.is_in, third.is_in) == (True, False, False)
    first.undo()
    assert decoder(client) == "own"


def test_one_unpatch_takes_one_patch_out(point: SDKPoint) -> None:
    client = Client()
    put(point, None, "a")
    put(point, None, "b")
    point.unpatch(None)
    assert decoder(client) == ("a", "own")
    point.unpatch(None)
    assert decoder(client) == "own"
    with pytest.raises(RuntimeError, match="standin is not patched"):
        point.unpatch(None)


def test_a_patch_that_is_out_is_no_context(point: SDKPoint) -> None:
    patch = put(point, None, "a")
    with patch:
        pass
    with pytest.raises(RuntimeError, match="call patch"), patch:
        pass


def test_an_exception_takes_it_out_and_goes_on(point: SDKPoint) -> None:
    with pytest.raises(KeyError), put(point, None, "a"):
        raise KeyError
    assert decoder(Client()) == "own"


def test_what_another_put_over_it_stays(point: SDKPoint, monkeypatch: pytest.MonkeyPatch) -> None:
    patch = put(point, None, "a")
    beneath = BaseClient._make_sse_decoder
    monkeypatch.setattr(BaseClient, "_make_sse_decoder", lambda client: ("theirs", beneath(client)))
    assert decoder(Client()) == ("theirs", ("a", "own"))
    patch.undo()
    assert decoder(Client()) == ("theirs", "own")
    with put(point, None, "b"):
        assert decoder(Client()) == ("theirs", ("b", "own"))
    monkeypatch.undo()
    assert decoder(Client()) == "own"
    setattr(BaseClient, "_make_sse_decoder", point._original)  # noqa: B010 - what monkeypatch brought back is ours


def test_threads_that_overlap(point: SDKPoint) -> None:
    client, found = Client(), []
    begin = threading.Barrier(4)

    def work(name: str) -> None:
        begin.wait()
        for _ in range(50):
            with put(point, None, name):
                found.append(decoder(client)[1])
            with put(point, client, name):
                found.append(decoder(client)[1])

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["own"] * 400
    assert decoder(client) == "own"
    assert set(vars(client)) == {"timeout"}


# -- one client --------------------------------------------------------------------------------------


def test_that_client_and_no_other(point: SDKPoint) -> None:
    client, other = Client(), Client()
    with put(point, client, "a"):
        assert decoder(client) == ("a", "own")
        assert decoder(other) == decoder(Client()) == "own"
        assert type(client) is Client
    assert set(vars(client)) == {"timeout"}


def test_its_copies_follow(point: SDKPoint) -> None:
    client = Client()
    with put(point, client, "a"):
        copies = [client.copy(timeout=2), client.with_options(timeout=3), client.copy().with_options()]
        assert [decoder(copy) for copy in copies] == [("a", "own")] * 3
        assert [copy.timeout for copy in copies] == [2, 3, 1]
        assert inspect.signature(client.copy) == inspect.signature(Client().copy)
        with put(point, client, "b"):
            assert decoder(copies[0]) == ("b", "own")
    assert [decoder(copy) for copy in copies] == ["own"] * 3
    assert decoder(copies[0].copy()) == "own"


def test_a_copy_s_own_patch_is_not_the_first_client_s(point: SDKPoint) -> None:
    client = Client()
    with put(point, client, "a"):
        copy = client.copy()
        with pytest.raises(RuntimeError, match="the client it was copied from"):
            point.unpatch(copy)
        with put(point, copy, "b"):
            assert (decoder(client), decoder(copy)) == (("a", "own"), ("b", "own"))
            assert decoder(copy.copy()) == ("b", "own")
        assert decoder(copy) == ("a", "own")


def test_a_client_s_patch_comes_before_the_process_s(point: SDKPoint) -> None:
    client = Client()
    with put(point, client, "a"), put(point, None, "b"):
        assert (decoder(client), decoder(Client())) == (("a", "own"), ("b", "own"))
        point.unpatch(client)
        assert decoder(client) == ("b", "own")


def test_unpatch_of_a_client_without_patch(point: SDKPoint) -> None:
    client = Client()
    with put(point, None, "a"), pytest.raises(RuntimeError, match="no patch of its own"):
        point.unpatch(client)


def test_a_patched_client_is_not_kept_alive(point: SDKPoint) -> None:
    client = Client()
    kept = weakref.ref(client)
    patch = put(point, client, "a")
    del client
    gc.collect()
    assert kept() is None
    patch.undo()


# -- what has no point -------------------------------------------------------------------------------


@pytest.mark.parametrize("client", [object(), "client", Client])
def test_no_client(point: SDKPoint, client: object) -> None:
    with pytest.raises(TypeError, match="takes a client of standin"):
        put(point, client, "a")


def test_a_client_with_a_decoder_of_its_own(point: SDKPoint) -> None:
    with pytest.raises(RuntimeError, match="FramesClient makes a decoder of its own"):
        put(point, FramesClient(), "a")
    client = Client()
    vars(client)["_make_sse_decoder"] = lambda: "mine"
    with pytest.raises(RuntimeError, match="decoder of its own"):
        put(point, client, "a")
    assert decoder(client) == "mine"


@pytest.mark.parametrize("gone", ["BaseClient", "SSEDecoder"])
def test_a_version_without_the_point(point: SDKPoint, gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(sys.modules["standin._base_client"]), gone, type("Other", (), {}))
    with pytest.raises(RuntimeError, match=r"standin 9\.9 has no place for another decoder"):
        put(point, None, "a")


def test_an_sdk_that_is_not_there() -> None:
    with pytest.raises(ImportError, match="pip install no_such_sdk"):
        put(SDKPoint("no_such_sdk"), None, "a")
