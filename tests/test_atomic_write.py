"""Atomic writes: the old content or the new, permissions and links as they were, and nothing left behind for long."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gradtape import atomic_write
from gradtape.atomic_write import temporary_names, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def leftover(target: Path, number: int = 0) -> Path:
    """A temporary file as a process that was killed leaves it."""
    all_names = temporary_names(str(target))
    for _ in range(number):
        next(all_names)
    path = Path(next(all_names))
    path.write_bytes(b"half of the num")
    return path


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o660, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    """Whatever the umask is, the permissions are those that the file had."""
    target = tmp_path / "a"
    target.write_bytes(b"old")
    target.chmod(mode)
    write_atomically(target, b"new")
    assert (stat.S_IMODE(target.stat().st_mode), target.read_bytes()) == (mode, b"new")


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_follows_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    """A file that was not there has the permissions that `open` would give it."""
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "a", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_a_mode_is_set_before_the_content_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At no moment does the temporary file of a private file hold content that others may read."""
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o600)
    seen = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (seen.append(stat.S_IMODE(os.fstat(fd).st_mode)), sync(fd)))
    write_atomically(tmp_path / "a", b"new")
    assert seen[0] == 0o600


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    """Links to files in other directories, links to links, and links to files that are not there yet."""
    (tmp_path / "store").mkdir()
    real = tmp_path / "store" / "real"
    (tmp_path / "one").symlink_to(Path("store") / "real")
    (tmp_path / "two").symlink_to("one")
    for content in (b"first", b"second"):
        write_atomically(tmp_path / "two", content)
        assert (tmp_path / "one").is_symlink()
        assert (tmp_path / "two").is_symlink()
        assert real.read_bytes() == content
    assert names(tmp_path / "store") == ["real"]


def test_links_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    """A circle of links is an error that names the path, and the links stay."""
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(OSError, match="symbolic link"):
        write_atomically(tmp_path / "one", b"new")
    assert names(tmp_path) == ["one", "two"]


def test_a_file_that_is_read_only_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without permission to write to it keeps its content, though its directory would let it be replaced."""
    target = tmp_path / "a"
    target.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # as for a user who is not root
    with pytest.raises(PermissionError, match="read-only"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"


def test_pipes_are_written_to(tmp_path: Path) -> None:
    """What is not a regular file stays what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"new")
    reader.join()
    assert found == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_file_and_directory_are_synchronised_around_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First the content is on the disk, then the name changes, then the directory is on the disk."""
    order: list[str] = []
    sync, replace = os.fsync, os.replace

    def noted_sync(descriptor: int) -> None:
        order.append("directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def noted_replace(source: str, target: str) -> None:
        order.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_replace)
    write_atomically(tmp_path / "a", b"new")
    assert order == ["file", "rename", "directory"]


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """The old content stays, the temporary file goes, and the next write works."""
    target = tmp_path / "a"
    target.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(*((atomic_write, "_keep_permissions", fail) if step == "write" else (os, step, fail)))
        with pytest.raises(OSError, match="No space left"):
            write_atomically(target, b"new")
    assert (names(tmp_path), target.read_bytes()) == (["a"], b"old")
    write_atomically(target, b"new")
    assert (names(tmp_path), target.read_bytes()) == (["a"], b"new")


def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path: Path) -> None:
    """Leftovers of this target go, whichever of the names they have; those of other targets stay."""
    for number in (0, 1, 3):
        leftover(tmp_path / "a", number)
    other = leftover(tmp_path / "b")
    write_atomically(tmp_path / "a", b"new")
    assert names(tmp_path) == sorted(["a", other.name])


def test_a_file_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    """While one write is under way, another to the same target uses another name, and both end well."""
    target = tmp_path / "a"
    with atomic_write._temporary_file(str(target)) as (file, temporary):
        file.write(b"slow")
        file.flush()
        write_atomically(target, b"quick")
        assert target.read_bytes() == b"quick"
        os.replace(temporary, target)
    assert (names(tmp_path), target.read_bytes()) == (["a"], b"slow")


def test_a_name_that_cannot_be_judged_is_not_touched(tmp_path: Path) -> None:
    """A link or a directory that has the name of the temporary file stays, and the write ends well."""
    (tmp_path / "precious").write_bytes(b"precious")
    first, second = (temporary_names(str(tmp_path / "a")) for _ in range(2))
    link = Path(next(first))
    link.symlink_to(tmp_path / "precious")
    next(second)
    folder = Path(next(second))
    folder.mkdir()
    write_atomically(tmp_path / "a", b"new")
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert names(tmp_path) == sorted(["a", "precious", link.name, folder.name])


def test_without_locks_nothing_of_others_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without locks a leftover may be in use, and stays."""
    monkeypatch.setattr(atomic_write, "_lock", lambda descriptor: "unknown")
    held = leftover(tmp_path / "a")
    write_atomically(tmp_path / "a", b"new")
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (sorted(["a", held.name]), b"new")


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    """A name that leaves no space for that of a temporary file is no obstacle."""
    target = tmp_path / ("n" * 255)
    write_atomically(target, b"new")
    assert names(tmp_path) == [target.name]


def test_threads_that_write_to_one_file_leave_one_of_their_contents(tmp_path: Path) -> None:
    """The file is complete after each write, and no temporary file stays."""
    contents = [bytes([n]) * 50_000 for n in range(8)]
    failures: list[BaseException] = []

    def write(content: bytes) -> None:
        try:
            for _ in range(5):
                write_atomically(tmp_path / "a", content)
                assert (tmp_path / "a").read_bytes() in contents
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=[content]) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert names(tmp_path) == ["a"]


KILLED = """
import os, random, signal, sys
from pathlib import Path
import numpy as np
import gradtape as gt

folder, chance = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
target, sizes = folder / "model.safetensors", (1, 1000, 300_000)
gt.nn.save(target, {"step": np.array(0), "numbers": np.full(sizes[0], 0.0)})
for kill in range(20):
    started, inform = os.pipe()
    child = os.fork()
    if not child:
        for step in range(1, 1_000_000):
            os.write(inform, b".")
            gt.nn.save(target, {"step": np.array(step), "numbers": np.full(sizes[step % 3], float(step))})
    os.close(inform)
    os.read(started, 1)
    for _ in range(chance.randrange(6)):
        os.read(started, 1)
    for _ in range(chance.randrange(200_000)):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(started)
    found = gt.nn.load(target)
    step = int(found["step"])
    assert (found["numbers"] == step).all() and found["numbers"].size == sizes[step % 3]
    others = [path.name for path in folder.iterdir() if path != target]
    assert len(others) <= 1, others
gt.nn.save(target, {"step": np.array(-1)})
print([path.name for path in folder.iterdir()])
"""


def test_a_save_that_is_killed_leaves_the_last_complete_file(tmp_path: Path) -> None:
    """After each of twenty kills the file loads, at most one temporary file is there, and the next save removes it."""
    pytest.importorskip("safetensors")
    command = [sys.executable, "-c", KILLED, str(tmp_path), "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['model.safetensors']"


@pytest.mark.parametrize("step", ["fsync", "replace", "listdir", "fchmod"])
def test_a_save_that_is_killed_at_each_step_leaves_one_temporary_file_at_most(tmp_path: Path, step: str) -> None:
    """Killed before or after it renames: the content is the old or the new, and the next write removes the rest."""
    target = tmp_path / "a"
    target.write_bytes(b"old")
    target.chmod(0o640)
    script = (
        "import os, signal, sys; from gradtape.atomic_write import write_atomically\n"
        f"os.{step} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_atomically(sys.argv[1], b'new')"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", script, str(target)], check=False)
        assert done.returncode == -9
        assert target.read_bytes() == (b"new" if step == "listdir" else b"old")
        assert len(names(tmp_path)) <= 2
    write_atomically(target, b"newer")
    assert (names(tmp_path), target.read_bytes()) == (["a"], b"newer")
