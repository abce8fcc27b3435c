"""replace_in_file: whole or not at all, in the version that was read, and never against another writer."""

from __future__ import annotations

import errno
import multiprocessing
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from tool_calls import judged, run, told
from trigate.tools import Cancellation, Context, Reconciled, Tool, ToolError
from trigate.tools.files import file_tools, replacing
from trigate.tools.files.root import version_of

pytestmark = pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="opens relative to a directory")

TEXT = "one two\nthree two\nfour\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(TEXT)
    return tmp_path


def replace(root: Path) -> Tool:
    return file_tools(root, writable=True)[-1]


def arguments(**members: Any) -> dict[str, Any]:
    plain = {
        "path": "notes/a.md",
        "old": "four",
        "new": "five",
        "expected_version": version_of(TEXT.encode()),
    }
    return plain | members


def perform(tool: Tool, **members: Any) -> Any:
    """Without asking `fresh` first: what the function itself does."""
    return tool.function(context=Context(), **arguments(**members))


def refused(tool: Tool, **members: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        perform(tool, **members)
    return caught.value


def names(root: Path) -> list[str]:
    return sorted(os.fspath(each.relative_to(root)) for each in root.rglob("*"))


# -- what it does ----------------------------------------------------------------------------------------


def test_a_text_is_replaced(root: Path) -> None:
    path = root / "notes" / "a.md"
    path.chmod(0o640)
    done = run(replace(root), **arguments())
    assert path.read_text() == "one two\nthree two\nfive\n"
    assert done.version == version_of(path.read_bytes())
    assert (done.path, done.bytes, done.replaced) == ("notes/a.md", 23, 1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(root) == ["notes", "notes/a.md"]
    again = run(replace(root), **arguments(old="two", new="2", count=2, expected_version=done.version))
    assert path.read_text() == "one 2\nthree 2\nfive\n"
    assert again.replaced == 2


def test_it_replaces_exactly_what_was_meant(root: Path) -> None:
    tool = replace(root)
    for members, found in (
        ({"old": "two"}, "2 times"),
        ({"old": "six"}, "0 times"),
        ({"old": "two", "count": 3}, "2 times"),
        ({"new": "four"}, "the same text"),
    ):
        error = refused(tool, **members)
        assert error.code == "invalid_arguments"
        assert error.problem.findings[0].found == found
    assert (root / "notes" / "a.md").read_text() == TEXT
    message = told(judged(tool, arguments(old="")))
    assert message["problems"][0]["path"] == "$.old"
    assert (
        told(judged(tool, arguments(expected_version="abc")))["problems"][0]["path"] == "$.expected_version"
    )


def test_line_ends_and_marks_stay(root: Path) -> None:
    path = root / "notes" / "a.md"
    data = "\ufeffa\r\nb\u2028c\r\n".encode()
    path.write_bytes(data)
    run(replace(root), **arguments(old="b", new="é", expected_version=version_of(data)))
    assert path.read_bytes() == "\ufeffa\r\né\u2028c\r\n".encode()


def test_a_size_beyond_the_limit_is_not_written(root: Path) -> None:
    tool = file_tools(root, writable=True, max_bytes=30)[-1]
    assert perform(tool, new="f" * 11).bytes == 30
    (root / "notes" / "a.md").write_text(TEXT)
    assert refused(tool, new="f" * 12).code == "too_large"
    assert (root / "notes" / "a.md").read_text() == TEXT


# -- versions and other writers --------------------------------------------------------------------------


def test_another_version_is_stale(root: Path) -> None:
    path = root / "notes" / "a.md"
    path.write_text(TEXT + "more\n")
    error = refused(replace(root))
    assert (error.code, error.layer) == ("stale_version", "environment")
    assert error.problem.facts == {"version": version_of(path.read_bytes())}
    judgment = judged(replace(root), arguments())
    assert judgment.fresh.answer == "no"
    assert told(judgment)["version"] == version_of(path.read_bytes())
    assert path.read_text() == TEXT + "more\n"


def test_fresh_says_what_is_gone(root: Path) -> None:
    (root / "notes" / "a.md").unlink()
    assert told(judged(replace(root), arguments()))["error"] == "not_found"
    assert refused(replace(root)).code == "not_found"
    assert told(judged(replace(root), arguments(path="../a.md")))["error"] == "invalid_arguments"


def test_a_writer_in_between_is_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program changes the file after it was read and before the rename: its change stays."""
    path, write = root / "notes" / "a.md", replacing._write

    def slow(*parts: Any) -> None:
        write(*parts)
        path.write_text("changed meanwhile\n")

    monkeypatch.setattr(replacing, "_write", slow)
    assert refused(replace(root)).code == "stale_version"
    assert path.read_text() == "changed meanwhile\n"
    assert names(root) == ["notes", "notes/a.md"]


def test_a_link_put_there_in_between_is_not_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, write, outside = root / "notes" / "a.md", replacing._write, root / "outside.txt"
    outside.write_text(TEXT)

    def slow(*parts: Any) -> None:
        write(*parts)
        path.unlink()
        path.symlink_to(outside)

    monkeypatch.setattr(replacing, "_write", slow)
    assert refused(replace(root)).code == "permission_denied"
    assert outside.read_text() == TEXT
    assert path.is_symlink()


def test_threads_lose_no_change(root: Path) -> None:
    """Each takes a line of its own; who meets another version reads again. No change is lost."""
    path = root / "notes" / "a.md"
    path.write_text("".join(f"line {number} is open\n" for number in range(20)))
    tool = replace(root)

    def work(first: int) -> None:
        for number in range(first, 20, 4):
            while True:
                version = version_of(path.read_bytes())
                old, new = f"line {number} is open", f"line {number} is done"
                try:
                    perform(tool, old=old, new=new, expected_version=version)
                    break
                except ToolError as error:
                    if error.code != "stale_version":
                        raise

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert path.read_text() == "".join(f"line {number} is done\n" for number in range(20))
    assert names(root) == ["notes", "notes/a.md"]


def _hold_lock(directory: str, locked: Any, release: Any) -> None:
    import fcntl

    descriptor = os.open(directory, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    locked.set()
    release.wait(30)


def test_another_process_at_work_is_a_conflict(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacing, "_LOCK_SECONDS", 0.1)
    processes = multiprocessing.get_context("spawn")
    locked, release = processes.Event(), processes.Event()
    holder = processes.Process(target=_hold_lock, args=(str(root / "notes"), locked, release))
    holder.start()
    try:
        assert locked.wait(30)
        assert refused(replace(root)).code == "conflict"
        token = Cancellation()
        token.cancel()
        with pytest.raises(ToolError) as caught:
            replace(root).function(context=Context(cancellation=token), **arguments())
        assert caught.value.code == "cancelled"
    finally:
        release.set()
        holder.join()
        holder.close()
    assert perform(replace(root)).replaced == 1


# -- what cannot be written ------------------------------------------------------------------------------


def test_a_full_disk_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    error = refused(replace(root))
    assert error.code == "tool_error"
    assert "nothing was changed" in error.message
    assert os.strerror(errno.ENOSPC) in error.message
    assert (root / "notes" / "a.md").read_text() == TEXT
    assert names(root) == ["notes", "notes/a.md"]


def test_a_rename_that_the_disk_does_not_confirm_is_unknown(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def unsure(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, "no answer")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", unsure)
    error = refused(replace(root))
    assert (error.code, error.layer) == ("timeout_unknown", "unknown_outcome")
    assert replace(root).ask_reconcile(arguments(), Context()).outcome == "succeeded"


def test_an_interruption_leaves_nothing_beside_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", stopped)
    with pytest.raises(KeyboardInterrupt):
        perform(replace(root))
    assert names(root) == ["notes", "notes/a.md"]
    assert (root / "notes" / "a.md").read_text() == TEXT


def test_a_file_with_two_names_is_left_alone(root: Path) -> None:
    """A rename would give one of the names a new content and leave the other behind."""
    os.link(root / "notes" / "a.md", root / "second.md")
    assert refused(replace(root)).code == "permission_denied"
    assert (root / "second.md").read_text() == TEXT


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../a.md", "invalid_arguments"),
        ("/etc/passwd", "invalid_arguments"),
        ("notes/.a.md", "permission_denied"),
        ("notes", "invalid_arguments"),
        ("notes/a.py", "not_found"),
        ("link.md", "permission_denied"),
        ("linked/a.md", "permission_denied"),
        ("", "invalid_arguments"),
    ],
)
def test_paths_that_are_not_written(root: Path, path: str, code: str) -> None:
    (root / "link.md").symlink_to("notes/a.md")
    (root / "linked").symlink_to("notes")
    assert refused(replace(root), path=path).code == code
    assert (root / "notes" / "a.md").read_text() == TEXT


# -- reconciling -----------------------------------------------------------------------------------------


def outcome(root: Path, **members: Any) -> Reconciled:
    return replace(root).ask_reconcile(arguments(**members), Context())


def test_the_versions_tell_what_happened(root: Path) -> None:
    assert outcome(root).outcome == "not_run"
    done = perform(replace(root))
    assert outcome(root) == Reconciled("succeeded", done)
    path = root / "notes" / "a.md"
    path.write_text(path.read_text() + "and more\n")
    assert outcome(root).outcome == "unknown"


@pytest.mark.parametrize(
    "members",
    [
        {"old": "four", "new": "two"},  # the new text stands elsewhere, too
        {"old": "two", "new": "2", "count": 2},
        {"old": "one two", "new": "three two one"},
        {"old": "three ", "new": "e"},
    ],
)
def test_a_replacement_is_found_among_like_texts(root: Path, members: dict[str, Any]) -> None:
    perform(replace(root), **members)
    assert outcome(root, **members).outcome == "succeeded"


def test_what_cannot_be_told_stays_unknown(root: Path) -> None:
    perform(replace(root), new="")
    assert outcome(root, new="").outcome == "unknown"
    (root / "notes" / "a.md").write_text("e" * 5000)
    assert outcome(root, new="e").outcome == "unknown"
