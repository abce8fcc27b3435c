"""The tools that only read: what they show, page by page, and that the pages together are the whole."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_calls import judged, run, told
from trigate.tools import Cancellation, Context, Policy, Tool, ToolError, Toolset, problem_of
from trigate.tools.files import file_tools
from trigate.tools.files import searching as searching_module

pytestmark = pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="opens relative to a directory")


def tools(root: Path, **options: Any) -> dict[str, Tool]:
    return {each.name: each for each in file_tools(root, **options)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    base = tmp_path / "root"
    (base / "notes" / "deep").mkdir(parents=True)
    (base / "a.md").write_text("alpha\nbeta\ngamma\n")
    (base / "b.TXT").write_text("Beta without end")
    (base / "code.py").write_text("beta = 1\n")
    (base / ".hidden.md").write_text("beta\n")
    (base / "notes" / "中文.md").write_text("延时任务\r\n故障恢复\r\n")
    (base / "notes" / "deep" / "c.md").write_text("one\nBETA two\n")
    return base


def read_all(tool: Tool, path: str) -> tuple[str, int]:
    """The whole text by following `next`, and the number of pages."""
    part = run(tool, path=path)
    text, pages = part.text, 1
    while not part.complete:
        part = run(tool, path=path, start_line=part.next.start_line, start_column=part.next.start_column)
        text, pages = text + part.text, pages + 1
    assert part.next is None
    return text, pages


# -- what is declared ------------------------------------------------------------------------------------


def test_the_readers_need_no_permission_and_the_writer_does(root: Path) -> None:
    assert [each.name for each in file_tools(root)] == ["list_files", "search_files", "read_file"]
    made = tools(root, writable=True)
    assert [each.read_only for each in made.values()] == [True, True, True, False]
    assert {name: each.permission for name, each in made.items() if each.permission} == {
        "replace_in_file": "files.write"
    }
    assert all(each.description and "context" not in str(each.parameters) for each in made.values())
    arguments = {"path": "a.md", "old": "x", "new": "y", "expected_version": "0" * 64}
    assert told(judged(made["replace_in_file"], arguments, Policy()))["error"] == "permission_denied"
    assert Toolset(made.values()).tools_for("openai-responses")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"suffixes": ".md"}, TypeError),
        ({"suffixes": ["md"]}, ValueError),
        ({"suffixes": []}, ValueError),
        ({"suffixes": ["."]}, ValueError),
        ({"max_bytes": 0}, ValueError),
        ({"max_bytes": True}, ValueError),
        ({"page_bytes": 3}, ValueError),
    ],
)
def test_options_that_are_refused(root: Path, options: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        file_tools(root, **options)


def test_a_root_that_is_none(root: Path) -> None:
    for path in (root / "missing", root / "a.md"):
        with pytest.raises(OSError, match=str(path)):
            file_tools(path)


def test_a_system_that_cannot_open_relative_to_a_directory(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    with pytest.raises(NotImplementedError, match="relative to a directory"):
        file_tools(root)


def test_the_root_s_descriptor_is_given_back(root: Path) -> None:
    listing = Path("/proc/self/fd")
    if not listing.exists():
        pytest.skip("no /proc here")
    before = len(list(listing.iterdir()))
    made = tools(root, writable=True)
    run(made["search_files"], query="beta")
    with pytest.raises(ToolError):
        run(made["read_file"], path="missing.md")
    assert len(list(listing.iterdir())) == before + 1
    del made
    assert len(list(listing.iterdir())) == before


def test_the_tools_stay_where_they_were_put(root: Path) -> None:
    made = tools(root)
    other = root.with_name("other")
    root.rename(other)
    root.mkdir()
    (root / "a.md").write_text("another directory of that name")
    assert run(made["read_file"], path="a.md").text == "alpha\nbeta\ngamma\n"


# -- listing ---------------------------------------------------------------------------------------------


def test_a_listing_holds_what_can_be_used(root: Path) -> None:
    (root / "link.md").symlink_to("a.md")
    os.mkfifo(root / "pipe.md")
    page = run(tools(root)["list_files"])
    assert [(each.name, each.kind, each.bytes) for each in page.entries] == [
        ("a.md", "file", 17),
        ("b.TXT", "file", 16),
        ("notes", "directory", None),
    ]
    assert (page.complete, page.next, page.left_out) == (True, None, 4)
    assert [each.name for each in run(tools(root)["list_files"], directory="./notes//").entries] == [
        "deep",
        "中文.md",
    ]


def test_a_long_listing_comes_in_pages(tmp_path: Path) -> None:
    for number in range(1203):
        (tmp_path / f"{number:05}.md").touch()
    made = tools(tmp_path)["list_files"]
    names: list[str] = []
    page = run(made)
    while True:
        names += [each.name for each in page.entries]
        if page.complete:
            break
        page = run(made, after=page.next.after)
    assert names == [f"{number:05}.md" for number in range(1203)]
    made.result_text(page)


def test_a_name_that_is_not_utf_8_is_left_out(tmp_path: Path) -> None:
    try:
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md"))).touch()
    except OSError:
        pytest.skip("this file system takes UTF-8 names alone")
    page = run(tools(tmp_path)["list_files"])
    assert (page.entries, page.left_out) == ([], 1)
    assert run(tools(tmp_path)["search_files"], query="x").files == 0


def test_what_is_not_there(root: Path) -> None:
    made = tools(root)
    for name, arguments in (
        ("list_files", {"directory": "none"}),
        ("list_files", {"directory": "a.md"}),
        ("read_file", {"path": "none.md"}),
        ("read_file", {"path": "a.md/x.md"}),
        ("read_file", {"path": "none/x.md"}),
        ("read_file", {"path": "x" * 300 + ".md"}),
    ):
        with pytest.raises(ToolError) as caught:
            run(made[name], **arguments)
        assert caught.value.code == "not_found", arguments
        assert str(root) not in caught.value.problem.to_model()


# -- reading ---------------------------------------------------------------------------------------------


def test_a_whole_file(root: Path) -> None:
    part = run(tools(root)["read_file"], path="notes/中文.md")
    data = (root / "notes" / "中文.md").read_bytes()
    assert part.text == data.decode() == "延时任务\r\n故障恢复\r\n"
    assert part.version == hashlib.sha256(data).hexdigest()
    assert (part.bytes, part.lines, part.start_line, part.end_line) == (len(data), 2, 1, 2)
    assert (part.complete, part.next) == (True, None)


def test_some_lines(root: Path) -> None:
    made = tools(root)["read_file"]
    part = run(made, path="a.md", start_line=2, max_lines=1)
    assert (part.text, part.end_line, part.complete) == ("beta\n", 2, False)
    assert (part.next.start_line, part.next.start_column) == (3, 1)
    assert run(made, path="a.md", start_line=3, start_column=3).text == "mma\n"
    assert run(made, path="a.md", start_line=3, start_column=99).text == ""
    message = told(judged(made, {"path": "a.md", "start_line": 0}))
    assert message["problems"][0]["path"] == "$.start_line"
    with pytest.raises(ToolError) as caught:
        run(made, path="a.md", start_line=4)
    assert caught.value.problem.findings[0].expected == "1 to 3"


@pytest.mark.parametrize(
    "content", ["", "\n", "no end", "\n\n\n", "a\n\nb", "\ufeffbom\n", "a\u2028b\x0bc\rd\n"]
)
def test_small_contents(tmp_path: Path, content: str) -> None:
    (tmp_path / "f.md").write_bytes(content.encode())
    part = run(tools(tmp_path)["read_file"], path="f.md")
    assert (part.text, part.complete, part.lines) == (
        content,
        True,
        len(content.split("\n")) - content.endswith("\n") - (not content),
    )


@given(
    content=st.lists(st.sampled_from(["a", "\n", "é", "中", "🍵", "\r", "x" * 30]), max_size=80).map("".join),
    page_bytes=st.integers(4, 40),
)
def test_the_pages_together_are_the_whole(content: str, page_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "f.md").write_bytes(content.encode())
        made = tools(Path(folder), page_bytes=page_bytes)["read_file"]
        text, pages = read_all(made, "f.md")
    assert text == content
    assert pages <= 1 + len(content.encode()) / max(1, page_bytes - 3) * 2


def test_a_page_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "f.md").write_text("é\n" * 50_000 + "x" * 100_000)
    made = tools(tmp_path, page_bytes=1000)["read_file"]
    part = run(made, path="f.md", max_lines=1_000_000)
    assert 990 <= len(part.text.encode()) <= 1000
    made.result_text(part)
    (tmp_path / "g.md").write_bytes(b"\x01" * 100_000)
    made.result_text(run(made, path="g.md"))


def test_the_largest_file(tmp_path: Path) -> None:
    made = tools(tmp_path, max_bytes=1000)["read_file"]
    for size, fits in ((999, True), (1000, True), (1001, False)):
        (tmp_path / "f.md").write_bytes(b"x" * size)
        if fits:
            assert run(made, path="f.md").bytes == size
            continue
        with pytest.raises(ToolError) as caught:
            run(made, path="f.md")
        assert (caught.value.code, caught.value.layer) == ("too_large", "limit")
        assert caught.value.problem.facts == {"limit_bytes": 1000}


def test_a_file_that_grows_while_it_is_read_is_never_half_of_each(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer between two reads: it is read anew; a writer that never stops is told."""
    path, pread = root / "a.md", os.pread
    writes = iter([1])

    def reading(descriptor: int, size: int, place: int) -> bytes:
        data = pread(descriptor, size, place)
        if (number := next(writes, None)) is not None:
            path.write_text(f"content {number:3}\n")
            os.utime(path, ns=(number, number))
        return data

    monkeypatch.setattr(os, "pread", reading)
    assert run(tools(root)["read_file"], path="a.md").text == "content   1\n"
    writes = iter(range(2, 100))
    with pytest.raises(ToolError) as caught:
        run(tools(root)["read_file"], path="a.md")
    assert caught.value.code == "conflict"


# -- searching -------------------------------------------------------------------------------------------


def test_matches_come_in_the_order_of_paths(root: Path) -> None:
    result = run(tools(root)["search_files"], query="beta")
    assert [(each.path, each.line, each.text) for each in result.matches] == [
        ("a.md", 2, "beta"),
        ("b.TXT", 1, "Beta without end"),
        ("notes/deep/c.md", 2, "BETA two"),
    ]
    assert (result.files, result.complete, result.skipped_count) == (4, True, 0)
    exact = run(tools(root)["search_files"], query="beta", ignore_case=False)
    assert [each.path for each in exact.matches] == ["a.md"]
    below = run(tools(root)["search_files"], query="任务", directory="notes")
    assert [(each.path, each.text) for each in below.matches] == [("notes/中文.md", "延时任务")]


def test_a_query_is_plain_text(root: Path) -> None:
    (root / "a.md").write_text("(a+)+$ .* [x\n" + "a" * 5000 + "!")
    made = tools(root)["search_files"]
    assert [each.line for each in run(made, query="(a+)+$").matches] == [1]
    assert run(made, query="[x").matches
    for query in ("two\nlines", "two\r"):
        with pytest.raises(ToolError) as caught:
            run(made, query=query)
        assert caught.value.code == "invalid_arguments"
    assert told(judged(made, {"query": ""}))["problems"][0]["expected"].startswith(
        "string, length at least 1"
    )


def test_long_lines_are_shown_around_the_match(root: Path) -> None:
    (root / "a.md").write_text("x" * 5000 + "needle" + "y" * 5000)
    (match,) = run(tools(root)["search_files"], query="needle").matches
    assert match.text == "..." + "x" * 100 + "needle" + "y" * 100 + "..."


def test_many_matches_come_in_pages(tmp_path: Path) -> None:
    expected = []
    for name in ("a.md", "b/c.md", "b.md", "b/d/e.md", "z.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("hit\nmiss\n" * 70)
        expected += [(name, line) for line in range(1, 140, 2)]
    expected.sort(key=lambda each: (each[0].split("/"), each[1]))
    made = tools(tmp_path)["search_files"]
    result = run(made, query="hit")
    found = [(each.path, each.line) for each in result.matches]
    while not result.complete:
        assert len(result.matches) == 100
        result = run(made, query="hit", start_path=result.next.start_path, start_line=result.next.start_line)
        found += [(each.path, each.line) for each in result.matches]
    assert found == expected
    made.result_text(result)
    with pytest.raises(ToolError) as caught:
        run(made, query="hit", directory="b", start_path="a.md")
    assert caught.value.code == "invalid_arguments"
    assert run(made, query="hit", directory="b", start_path="b/d/e.md").files == 1


def test_it_stops_at_a_number_of_files_and_bytes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tools(root)["search_files"]
    for bound in ("_MAX_FILES", "_MAX_BYTES"):
        with monkeypatch.context() as patch:
            patch.setattr(searching_module, bound, 2)
            result = run(made, query="no such text")
            assert not result.complete
            seen = result.files
            while not result.complete:
                result = run(made, query="no such text", start_path=result.next.start_path)
                seen += result.files
            assert seen == 4


def test_what_could_not_be_searched_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "broken.md").write_bytes(b"beta \xff")
    with (root / "large.md").open("wb") as file:
        file.truncate(2 * 1024 * 1024)
    monkeypatch.setattr(searching_module, "_MAX_LEVELS", 1)
    result = run(tools(root)["search_files"], query="beta")
    assert {each.path: each.why.split(" ", 1)[1] for each in result.skipped} == {
        "broken.md": "is not UTF-8 text: byte 0xff at offset 5",
        "large.md": "has more than the 1048576 bytes that are read of one file",
        "notes/deep": "are nested deeper than 1 levels",
    }
    assert (result.skipped_count, len(result.matches)) == (3, 2)
    for number in range(30):
        (root / f"x{number}.md").write_bytes(b"\xff")
    result = run(tools(root)["search_files"], query="beta")
    assert (result.skipped_count, len(result.skipped)) == (33, 10)


def test_a_search_can_be_called_off(root: Path) -> None:
    token = Cancellation()
    token.cancel("enough")
    made = tools(root)["search_files"]
    arguments = judged(made, {"query": "beta"}).arguments
    with pytest.raises(ToolError) as caught:
        made.run(arguments, Context(cancellation=token))
    assert caught.value.code == "cancelled"


class Later(Cancellation):
    """Called off after so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    @property
    def is_cancelled(self) -> bool:
        self.looks -= 1
        return self.looks < 0


def test_a_search_can_be_called_off_at_any_moment(root: Path) -> None:
    made = tools(root)["search_files"]
    arguments = judged(made, {"query": "beta"}).arguments
    for looks in range(12):
        with pytest.raises(ToolError) as caught:
            made.run(arguments, Context(cancellation=Later(looks)))
        assert caught.value.code == "cancelled"


@pytest.mark.parametrize(
    ("number", "code", "why"),
    [
        (errno.EACCES, "permission_denied", "a.md cannot be opened by this program"),
        (errno.EIO, "tool_error", "it cannot be read"),
        (errno.EMLINK, "permission_denied", "a.md is a symbolic link, and links are not followed"),
    ],
)
def test_what_the_system_refuses(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str, why: str
) -> None:
    made, real = tools(root), os.open

    def opening(path: Any, *rest: Any, **named: Any) -> int:
        if path == "a.md":
            raise OSError(number, f"{root}/a.md")
        return real(path, *rest, **named)

    monkeypatch.setattr(os, "open", opening)
    with pytest.raises((ToolError, OSError)) as caught:
        run(made["read_file"], path="a.md")
    problem = problem_of(caught.value)
    assert problem.code == code
    assert str(root) not in problem.to_model()
    result = run(made["search_files"], query="beta")
    assert [(each.path, each.why) for each in result.skipped] == [("a.md", why)]
    assert len(result.matches) == 2


def test_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Each call opens the directory anew: a shared one would share its place in the listing."""
    for number in range(200):
        (tmp_path / f"{number}.md").write_text(f"{number}\n")
    made = tools(tmp_path)["list_files"]
    counts: list[int] = []

    def work() -> None:
        counts.extend(len(run(made).entries) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert counts == [200] * 20
