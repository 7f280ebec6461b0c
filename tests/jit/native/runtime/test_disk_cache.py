"""Native code on disk: what is read again, what is made again, and which directories are refused."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import JitWarning, jit
from gradtape.jit.native.runtime import disk_cache, llvm

CODE = bytes(range(256))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh directory that code is kept in, with the counts at zero, and none of it in memory already."""
    jit(np.exp)(np.ones(2))  # what all native calls have in common is compiled once in a process
    monkeypatch.setattr(disk_cache, "statistics", disk_cache.CacheStatistics())
    monkeypatch.setattr(llvm.host(), "_cache", type(llvm.host()._cache)())
    before = gt.config.cache_dir
    gt.config.cache_dir = tmp_path / "code"
    yield tmp_path / "code"
    gt.config.cache_dir = before


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*" + disk_cache.ENDING))


def compute() -> np.ndarray:
    """The answer of a function that was just compiled, for which LLVM is asked unless the code is on disk."""
    llvm.host()._cache.clear()
    return jit(lambda x: np.sum(np.exp(np.sin(x)) * 3.25))(np.linspace(0, 1, 33))


def counts() -> tuple[int, int, int]:
    return disk_cache.statistics.read, disk_cache.statistics.written, disk_cache.statistics.rebuilt


# -- reading, writing, damage


def test_code_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was compiled once is not given to LLVM again, and computes the same bits."""
    first = compute()
    assert counts() == (0, 1, 0)

    def refuse(self: object, text: str) -> None:
        raise AssertionError("LLVM was asked")

    monkeypatch.setattr(llvm.Machine, "optimise", refuse)
    assert compute() == first
    assert counts() == (1, 1, 0)


def test_directory_and_files_are_private(folder: Path) -> None:
    """The directory is made for the user alone, and so is every file in it; nothing half-written stays there."""
    compute()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]


def damages(data: bytes) -> dict[str, bytes]:
    middle = len(data) // 2
    return {
        "empty": b"",
        "header alone": data[: disk_cache._HEADER.size],
        "cut off": data[:-1],
        "longer": data + b"\0",
        "flipped bit in the code": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "flipped bit in the checksum": data[:30] + bytes([data[30] ^ 128]) + data[31:],
        "another kind of file": b"\x7fELF" + data[4:],
    }


@pytest.mark.parametrize("how", damages(b"x" * 200))
def test_damage_is_found_and_mended(folder: Path, how: str) -> None:
    """An entry that is not what was written is never used: it is made again, and is good afterwards."""
    first = compute()
    (path,) = entries(folder)
    whole = path.read_bytes()
    path.write_bytes(damages(whole)[how])
    assert compute() == first
    assert counts() == (0, 2, 1)
    assert path.read_bytes() == whole
    assert compute() == first
    assert counts() == (1, 2, 1)


def test_an_entry_under_another_name_is_not_used(folder: Path) -> None:
    """A file that was renamed to the name of other code is found out, although it is whole in itself."""
    disk_cache.object_code(["one"], lambda: b"code of one")
    (path,) = entries(folder)
    disk_cache.object_code(["other"], lambda: b"code of other")
    (other,) = [entry for entry in entries(folder) if entry != path]
    os.replace(path, other)
    assert disk_cache.object_code(["other"], lambda: b"code of other") == b"code of other"
    assert disk_cache.statistics.rebuilt == 1


def test_everything_that_matters_is_in_the_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another text, machine, instruction set or version is another entry; parts do not run into each other."""
    keys = {disk_cache._key(parts) for parts in (["ab", "c"], ["a", "bc"], ["ab", "c", ""], ["abc"])}
    assert len(keys) == 4
    for constant, size, dtype in ((3.25, 33, float), (3.5, 33, float), (3.25, 34, float), (3.25, 33, np.float32)):
        jit(lambda x, constant=constant: np.sum(np.exp(np.sin(x)) * constant))(np.ones(size, dtype))
    assert len(entries(folder)) == 4
    monkeypatch.setattr(gt.config, "native_features", "-avx512f,-avx2,-fma")
    compute()
    assert len(entries(folder)) == 5
    versions = disk_cache._versions()
    assert gt.__version__ in versions
    assert np.__version__ in versions
    monkeypatch.setattr(disk_cache, "_versions", lambda: ("0.0", *versions[1:]))
    assert disk_cache._key(["a"]) not in keys
    assert disk_cache.object_code(["new version"], lambda: CODE) == CODE


def test_two_processes_share_a_directory(folder: Path) -> None:
    """Processes that compile the same at the same time all get it right, and a later one only reads."""
    script = textwrap.dedent(
        """
        import sys, numpy as np, gradtape as gt
        from gradtape.jit.native.runtime import disk_cache
        gt.config.cache_dir = sys.argv[1]
        step = gt.jit(gt.value_and_grad(lambda x: np.sum(np.exp(np.sin(x)) * np.tanh(x))))
        value, gradient = step(np.linspace(0, 1, 40))
        s = disk_cache.statistics
        print(float(value).hex(), gradient.tobytes().hex(), file=sys.stderr)
        print(s.read > 0 and s.written == 0)
        """
    )
    call = [sys.executable, "-c", script, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(gt.__file__).parents[1])}
    both = [
        subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    answers = [process.communicate()[1] for process in both]
    third = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    assert [process.returncode for process in both] == [0, 0], answers
    assert answers[0] == answers[1] == third.stderr
    assert third.stdout.strip() == "True"
    assert not list(folder.glob(".new-*"))


def test_the_directory_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the bound, entries go that were not used for longest."""
    monkeypatch.setattr(disk_cache, "BYTES_AT_MOST", 3 * (disk_cache._HEADER.size + 100))
    monkeypatch.setattr(disk_cache, "BETWEEN_SWEEPS", 1)
    for number in range(6):
        disk_cache.object_code([str(number)], lambda: b"x" * 100)
        for entry in entries(folder):
            os.utime(entry, (entry.stat().st_atime, entry.stat().st_mtime - 10))
    disk_cache.object_code(["5"], lambda: b"not asked")
    assert len(entries(folder)) == 3
    assert disk_cache.object_code(["5"], lambda: b"not asked") == b"x" * 100
    assert disk_cache.object_code(["0"], lambda: b"made again") == b"made again"


# -- directories


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702])
def test_directories_that_others_can_write_to_are_refused(tmp_path: Path, mode: int) -> None:
    """A directory in which others could put code raises, says so, and leaves the setting as it was."""
    tmp_path.chmod(mode)
    with pytest.raises(gt.GradTapeError, match="others can write to it"):
        gt.config.cache_dir = tmp_path
    assert gt.config.cache_dir is None


def test_a_directory_that_others_can_exchange_is_refused(tmp_path: Path) -> None:
    """A private directory inside one that everybody can write to, without the sticky bit, raises."""
    tmp_path.chmod(0o777)
    with pytest.raises(gt.GradTapeError, match="in its place"):
        gt.config.cache_dir = tmp_path / "code"


def test_what_is_no_directory_is_refused(tmp_path: Path) -> None:
    """A file, an empty name and what is no path raise with what was given."""
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(gt.GradTapeError, match="not a directory"):
        gt.config.cache_dir = file
    with pytest.raises(gt.GradTapeError, match="cannot be used"):
        gt.config.cache_dir = file / "below"
    for wrong in ("", 3, True):
        with pytest.raises(gt.GradTapeError, match="a path"):
            gt.config.cache_dir = wrong
    assert gt.config.cache_dir is None


def test_a_directory_that_goes_bad_is_not_used(folder: Path) -> None:
    """Permissions are looked at in each use: code is compiled as ever, with one warning."""
    first = compute()
    folder.chmod(0o777)
    with pytest.warns(JitWarning, match="others can write"):
        assert compute() == first
    assert compute() == first
    assert counts() == (0, 1, 0)


def test_a_disk_that_cannot_be_written_to_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an entry cannot be written, the code is used all the same, with one warning and nothing left behind."""

    def full(one: object, other: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk_cache.os, "replace", full)
    with pytest.warns(JitWarning, match="No space left"):
        compute()
    compute()
    assert list(folder.iterdir()) == []


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory is that of the time it was set, wherever the process goes afterwards."""
    monkeypatch.chdir(tmp_path)
    gt.config.cache_dir = "code"
    try:
        assert Path(gt.config.cache_dir) == tmp_path / "code"
    finally:
        gt.config.cache_dir = None


# -- in memory


@pytest.mark.filterwarnings("ignore:.*GT701")  # for as many sizes on purpose
def test_code_in_memory_is_bounded_and_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that were evicted give their native code back: it is alive for the kept ones alone."""
    import gc
    import weakref

    monkeypatch.setattr(llvm, "CACHE_SIZE", 2)
    step = jit(lambda x: np.sum(np.exp(np.sin(x)) * 1.125), cache_size=2)
    libraries: list[weakref.ref[object]] = []
    for size in range(50, 58):
        step(np.ones(size))
        libraries.append(weakref.ref(list(llvm.host()._cache.values())[-1]))
    gc.collect()
    assert sum(library() is not None for library in libraries) <= 3
