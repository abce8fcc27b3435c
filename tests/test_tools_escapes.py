"""What must not get out of the directory, must not hang, and must not be read: tried through judge and run.

The secret lies beside the root. No answer of any tool, good or bad, may hold it, nor the path of the root.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tool_calls import released
from trigate.tools import Context, Policy, ToolError, Toolset, judge, problem_of
from trigate.tools.files import file_tools

pytestmark = pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="opens relative to a directory")

SECRET = "the secret beside the root"
INSIDE = "what may be read\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("base")
    root = base / "root"
    (root / "in").mkdir(parents=True)
    (root / "in" / "good.md").write_text(INSIDE)
    (base / "secret.md").write_text(SECRET)
    (base / "out").mkdir()
    (base / "out" / "secret.md").write_text(SECRET)
    (root / "file.md").symlink_to(base / "secret.md")
    (root / "relative.md").symlink_to("../secret.md")
    (root / "folder").symlink_to(base / "out")
    (root / "up").symlink_to("..")
    (root / "top").symlink_to("/")
    (root / "loop.md").symlink_to("loop.md")
    (root / "zero.md").symlink_to("/dev/zero")
    (root / "inner.md").symlink_to("in/good.md")
    (root / "dangling.md").symlink_to("nowhere.md")
    (root / "dir.md").mkdir()
    os.mkfifo(root / "pipe.md")
    return base


@pytest.fixture
def toolset(base: Path) -> Toolset:
    return Toolset(file_tools(base / "root", writable=True))


def answer(toolset: Toolset, name: str, **arguments: Any) -> tuple[str, str]:
    """(code of the problem or "", everything that goes to the model) of one call, from its bytes on."""
    judgment = judge(released(name, arguments), toolset, Policy({"files.write"}))
    if judgment.problem is not None:
        return judgment.problem.code, judgment.problem.to_model()
    tool = judgment.tool
    assert tool is not None
    try:
        return "", tool.result_text(tool.run(judgment.arguments, Context()))
    except ToolError as error:
        problem = problem_of(error)
        return problem.code, problem.to_model()


def every_tool(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "read_file", {"path": path}
    yield "list_files", {"directory": path}
    yield "search_files", {"query": "secret", "directory": path}
    yield "search_files", {"query": "secret", "start_path": path}
    change = {"old": SECRET, "new": "stolen", "expected_version": "0" * 64}
    yield "replace_in_file", {"path": path, **change}


def check(base: Path, text: str) -> None:
    assert SECRET not in text
    assert str(base) not in text
    assert (base / "secret.md").read_text() == SECRET


# -- paths that lead out ---------------------------------------------------------------------------------

OUT = [
    "..",
    "../secret.md",
    "in/../../secret.md",
    "./../secret.md",
    "in/..",
    "in/../in/good.md",
    "/etc/passwd",
    "//etc/passwd",
    "/",
    "in/good.md\0.md",
    "\0",
    "x/" * 65 + "a.md",
    "/".join(["a"] * 3000),
]


@pytest.mark.parametrize("path", OUT, ids=lambda path: path[:20])
def test_a_path_that_leads_out_is_refused_by_every_tool(base: Path, toolset: Toolset, path: str) -> None:
    for name, arguments in every_tool(path):
        code, text = answer(toolset, name, **arguments)
        assert code == "invalid_arguments", (name, text)
        assert json.loads(text)["problems"], name
        check(base, text)


def test_a_root_s_own_path_is_absolute_and_refused(base: Path, toolset: Toolset) -> None:
    for path in (base / "root" / "in" / "good.md", base / "secret.md"):
        code, _ = answer(toolset, "read_file", path=str(path))
        assert code == "invalid_arguments"


# -- links -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("file.md", "relative.md", "inner.md", "loop.md", "zero.md", "dangling.md"),
        *("folder/secret.md", "up/secret.md", "top/etc/passwd.md", "up/root/in/good.md", "folder"),
    ],
)
def test_no_link_is_followed(base: Path, toolset: Toolset, path: str) -> None:
    for name, arguments in every_tool(path):
        if "start_path" in arguments:
            continue  # it only says where to begin
        code, text = answer(toolset, name, **arguments)
        assert code in ("permission_denied", "not_found"), (name, text)
        assert "symbolic link" in text or code == "not_found"
        check(base, text)


def test_a_search_and_a_listing_see_no_link(base: Path, toolset: Toolset) -> None:
    for query in ("secret", "read"):
        _, text = answer(toolset, "search_files", query=query)
        check(base, text)
        assert json.loads(text)["files"] == 1
    names = [each["name"] for each in json.loads(answer(toolset, "list_files")[1])["entries"]]
    assert names == ["dir.md", "in"]


def test_a_root_that_is_a_link_itself_is_the_caller_s_choice(base: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(base / "root")
    toolset = Toolset(file_tools(tmp_path / "way"))
    assert INSIDE.strip() in answer(toolset, "read_file", path="in/good.md")[1]


# -- a link swapped in while it is opened ----------------------------------------------------------------


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    (tmp_path / "root" / "in").mkdir(parents=True)
    (tmp_path / "root" / "in" / "a.md").write_text(INSIDE)
    (tmp_path / "out").mkdir()
    for name in ("secret.md", "out/a.md"):
        (tmp_path / name).write_text(SECRET)
    return tmp_path


def swap_file(scene: Path) -> None:
    (scene / "root" / "in" / "a.md").unlink()
    (scene / "root" / "in" / "a.md").symlink_to(scene / "secret.md")


def swap_directory(scene: Path) -> None:
    (scene / "root" / "in").rename(scene / "root" / "was")
    (scene / "root" / "in").symlink_to(scene / "out")


def swap_for_a_pipe(scene: Path) -> None:
    (scene / "root" / "in" / "a.md").unlink()
    os.mkfifo(scene / "root" / "in" / "a.md")


def when_opening(
    monkeypatch: pytest.MonkeyPatch, scene: Path, wanted: str, swap: Callable[[Path], None], *, after: bool
) -> list[str]:
    """Swaps right before or after the part `wanted` of a path is opened; returns what was done."""
    real, done = os.open, list[str]()

    def opening(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        is_it = path == wanted and not done
        if is_it:
            done.append("swapped")
        if is_it and not after:
            swap(scene)
        descriptor = real(path, flags, mode, dir_fd=dir_fd)
        if is_it and after:
            swap(scene)
        return descriptor

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(os, "supports_dir_fd", {*os.supports_dir_fd, opening})
    return done


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("wanted", "swap"),
    [
        ("in", swap_directory),
        ("in", swap_file),
        ("a.md", swap_file),
        ("a.md", swap_directory),
        ("a.md", swap_for_a_pipe),
    ],
)
@pytest.mark.parametrize("name", ["read_file", "search_files"])
def test_a_swap_at_each_step(
    scene: Path,
    monkeypatch: pytest.MonkeyPatch,
    wanted: str,
    swap: Callable[[Path], None],
    after: bool,
    name: str,
) -> None:
    toolset = Toolset(file_tools(scene / "root"))
    arguments = {"path": "in/a.md"} if name == "read_file" else {"query": "e"}
    done = when_opening(monkeypatch, scene, wanted, swap, after=after)
    code, text = answer(toolset, name, **arguments)
    assert done == ["swapped"]
    assert SECRET not in text
    if name == "read_file":
        assert code in ("", "permission_denied", "not_found")
        assert (code == "") == (json.loads(text).get("text") == INSIDE)


def test_a_race_with_a_thread_that_swaps_all_the_time(scene: Path) -> None:
    toolset = Toolset(file_tools(scene / "root"))
    root, is_over = scene / "root", threading.Event()
    (root / "link").symlink_to(scene / "out")
    (root / "a.md").write_text(INSIDE)
    (root / "link.md").symlink_to(scene / "secret.md")

    def swap() -> None:
        while not is_over.is_set():
            for kept, link in (("in", "link"), ("a.md", "link.md")):
                (root / kept).rename(root / "kept")
                (root / link).rename(root / kept)
                (root / kept).rename(root / link)
                (root / "kept").rename(root / kept)

    thread = threading.Thread(target=swap)
    thread.start()
    seen: dict[str, int] = {}
    try:
        for _ in range(100):
            for path in ("in/a.md", "a.md"):
                code, text = answer(toolset, "read_file", path=path)
                assert SECRET not in text
                seen[code] = seen.get(code, 0) + 1
            assert SECRET not in answer(toolset, "search_files", query="e")[1]
    finally:
        is_over.set()
        thread.join()
    assert seen.keys() <= {"", "permission_denied", "not_found"}
    assert seen.get("", 0) > 0


# -- what is no file -------------------------------------------------------------------------------------


def test_a_pipe_is_not_waited_for(base: Path, toolset: Toolset) -> None:
    for name, arguments in every_tool("pipe.md"):
        if "path" in arguments:
            code, text = answer(toolset, name, **arguments)
            assert (code, "no regular file" in text) == ("permission_denied", True)
    assert stat.S_ISFIFO((base / "root" / "pipe.md").stat().st_mode)


def test_a_device_is_not_read(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "zero.md", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except OSError:
        pytest.skip("this user may not make device files")
    toolset = Toolset(file_tools(tmp_path))
    assert answer(toolset, "read_file", path="zero.md")[0] == "permission_denied"
    assert json.loads(answer(toolset, "search_files", query="x")[1])["files"] == 0


def test_devices_of_the_system(tmp_path: Path) -> None:
    """The same by a root that holds them: /dev itself, with a suffix that fits nothing but is asked for."""
    del tmp_path
    if not Path("/dev/null").exists():
        pytest.skip("no /dev here")
    toolset = Toolset(file_tools("/dev"))
    for path in ("null", "zero", "tty", "random"):
        assert answer(toolset, "read_file", path=path)[0] in ("permission_denied", "not_found")


def test_a_socket_is_not_read(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(str(tmp_path / "s.md"))
        except OSError:
            pytest.skip("the path is too long for a socket")
        toolset = Toolset(file_tools(tmp_path))
        assert answer(toolset, "read_file", path="s.md")[0] == "permission_denied"


def test_a_directory_named_like_a_file(toolset: Toolset) -> None:
    code, text = answer(toolset, "read_file", path="dir.md")
    assert (code, "list_files" in text) == ("invalid_arguments", True)
    assert answer(toolset, "list_files", directory="dir.md")[0] == ""
    assert answer(toolset, "read_file", path="dir.md/")[0] == "invalid_arguments"


# -- what is too much, or no text ------------------------------------------------------------------------


def test_a_huge_file_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pread", None)
    with (tmp_path / "huge.md").open("wb") as file:
        try:
            file.truncate(2**40)
        except OSError:
            file.truncate(2**33)
    toolset = Toolset(file_tools(tmp_path, writable=True))
    for name, arguments in every_tool("huge.md"):
        if "path" in arguments:
            assert answer(toolset, name, **arguments)[0] == "too_large"
    result = json.loads(answer(toolset, "search_files", query="x")[1])
    assert (result["files"], result["skipped_count"]) == (0, 1)


def test_a_file_that_never_ends_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that says it is small and goes on for ever, as files of some file systems do."""
    (tmp_path / "f.md").write_text("small")
    asked: list[int] = []

    def endless(_: int, size: int, __: int) -> bytes:
        asked.append(size)
        return b"x" * size

    monkeypatch.setattr(os, "pread", endless)
    assert answer(Toolset(file_tools(tmp_path)), "read_file", path="f.md")[0] == "too_large"
    assert sum(asked) < 2 * 1024 * 1024


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"\xff", 0),
        (b"abc\x80", 3),
        ("é".encode("latin-1") + b"\n", 0),
        (b"ok \xc0\xaf", 3),
        (b"ok \xed\xa0\x80", 3),
        (b"ok \xf4\x90\x80\x80", 3),
        ("中文".encode()[:-1], 3),
        ("utf-16".encode("utf-16"), 0),
        (b"x" * 70_000 + b"\xfe", 70_000),
    ],
)
def test_what_is_not_utf_8_is_told_with_its_offset(tmp_path: Path, data: bytes, offset: int) -> None:
    (tmp_path / "f.md").write_bytes(data)
    toolset = Toolset(file_tools(tmp_path, writable=True))
    for name in ("read_file", "replace_in_file"):
        change = {"old": "a", "new": "b", "expected_version": "0" * 64} if name.startswith("replace") else {}
        code, text = answer(toolset, name, path="f.md", **change)
        assert (code, json.loads(text)["offset"]) == ("tool_error", offset)
    assert (tmp_path / "f.md").read_bytes() == data


def test_other_suffixes_and_hidden_names(base: Path) -> None:
    root = base / "root"
    (root / "key.pem").write_text(SECRET)
    (root / ".env").write_text(SECRET)
    (root / ".git").mkdir(exist_ok=True)
    (root / ".git" / "config.md").write_text(SECRET)
    toolset = Toolset(file_tools(root))
    for path in ("key.pem", ".env", ".git/config.md", "./.git/config.md", "in/.good.md"):
        assert answer(toolset, "read_file", path=path)[0] == "permission_denied"
    _, text = answer(toolset, "search_files", query="secret")
    assert SECRET not in text


# -- any path at all -------------------------------------------------------------------------------------

PIECES = [
    *("..", ".", "", "/", "\\", "\0", "~", "*", "in", "good.md", "root", "secret.md", "folder", "up", "top"),
    *(
        "file.md",
        "pipe.md",
        "dir.md",
        "loop.md",
        "etc",
        "passwd",
        "C:",
        "\u202e",
        "．．",
        "%2e%2e",
        "..;",
        "\udcff",
    ),
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(
    pieces=st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=8),
    divider=st.sampled_from(["/", "", "//", "\\"]),
)
def test_no_path_leads_out(base: Path, toolset: Toolset, pieces: list[str], divider: str) -> None:
    path = divider.join(pieces)
    for name, arguments in every_tool(path):
        code, text = answer(toolset, name, **arguments)
        check(base, text)
        assert code in ("", "invalid_arguments", "permission_denied", "not_found", "stale_version"), (
            name,
            path,
        )
        if name == "read_file" and not code:
            assert json.loads(text)["text"] == INSIDE
