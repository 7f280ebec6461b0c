"""Code on disk that others may have written is never run: owners, permissions, links, and the key of the entries."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import gradtape as gt
from gradtape import trusted_files
from gradtape.jit import JitWarning
from gradtape.jit.native.runtime import disk_cache

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and permissions are looked at on POSIX systems")

ANOTHER = 54_321  # a user who is neither this one nor root
GiveAway = Callable[[Path], None]


@pytest.fixture
def give_away(monkeypatch: pytest.MonkeyPatch) -> GiveAway:
    """Lets a file, a directory or a link belong to another user; only root can do so, others have it imitated."""
    given: set[tuple[int, int]] = set()
    status = trusted_files.status

    def imitated(place: str | int) -> os.stat_result:
        found = status(place)
        if (found.st_dev, found.st_ino) not in given:
            return found
        fields = list(found)
        fields[stat.ST_UID] = ANOTHER
        return os.stat_result(fields)

    def give(path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, ANOTHER, -1, follow_symlinks=False)
            return
        found = os.lstat(path)
        given.add((found.st_dev, found.st_ino))
        monkeypatch.setattr(trusted_files, "status", imitated)

    return give


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory for the user's settings, in which the key will be kept."""
    folder = tmp_path / "settings"
    folder.mkdir(0o700)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder


@pytest.fixture
def folder(tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with one entry, of the code `ours`."""
    monkeypatch.setattr(disk_cache, "statistics", disk_cache.CacheStatistics())
    monkeypatch.setattr(disk_cache, "_complained", set())
    gt.config.cache_dir = tmp_path / "code"
    try:
        assert disk_cache.object_code(["text"], lambda: b"ours") == b"ours"
        yield tmp_path / "code"
    finally:
        gt.config.cache_dir = None


def entry(folder: Path) -> Path:
    (path,) = folder.glob("*" + disk_cache.ENDING)
    return path


def found() -> bytes:
    """What is run: the entry's code, or that which is made anew."""
    return disk_cache.object_code(["text"], lambda: b"made anew")


# -- entries


def test_an_entry_of_the_user_is_read(folder: Path) -> None:
    """An entry that the user has written is used, so that the tests below are able to fail."""
    assert found() == b"ours"


def test_an_entry_of_another_user_is_made_again(folder: Path, give_away: GiveAway) -> None:
    """A file that belongs to another user is not used, however right its contents are, and is replaced."""
    give_away(entry(folder))
    assert found() == b"made anew"
    assert found() == b"made anew"
    assert (disk_cache.statistics.read, disk_cache.statistics.rebuilt) == (1, 1)
    assert entry(folder).stat().st_uid == os.geteuid()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_can_write_to_is_made_again(folder: Path, mode: int) -> None:
    """A file that the group or others can write to is not used, and is replaced by one that they cannot."""
    entry(folder).chmod(mode)
    assert found() == b"made anew"
    assert stat.S_IMODE(entry(folder).stat().st_mode) == 0o600


def test_an_entry_that_is_a_link_is_made_again(folder: Path, tmp_path: Path) -> None:
    """A link is not followed, even to contents that would do, and what it leads to is not touched."""
    path, elsewhere = entry(folder), tmp_path / "elsewhere"
    os.replace(path, elsewhere)
    path.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    assert found() == b"made anew"
    assert not path.is_symlink()
    assert elsewhere.read_bytes() == before


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "directory"])
def test_an_entry_that_is_no_file_is_not_waited_for(folder: Path, make: Callable[[Path], None]) -> None:
    """A pipe or a directory under the name of an entry neither stops the process nor is used."""
    path = entry(folder)
    path.unlink()
    make(path)
    if make is os.mkdir:
        with pytest.warns(JitWarning, match="not kept on disk"):
            assert found() == b"made anew"
    else:
        assert found() == b"made anew"


def test_an_entry_without_the_users_key_is_made_again(folder: Path) -> None:
    """What was planted while the directory was open is not run after `chmod 700`, even as a file of the user's own."""
    path = entry(folder)
    key = bytes.fromhex(path.stem)
    for known in (b"", b"\0" * trusted_files.SECRET_BYTES, b"theirs"):
        planted = (
            disk_cache._HEADER.pack(disk_cache._MAGIC, disk_cache._seal(key, b"planted", known), len(b"planted"))
            + b"planted"
        )
        folder.chmod(0o777)
        path.write_bytes(planted)
        folder.chmod(0o700)
        assert found() == b"made anew"


def test_entries_of_another_key_are_made_again(folder: Path, settings: Path) -> None:
    """A key that is lost takes its entries with it: they are made again, with the new key."""
    (settings / "gradtape" / "cache.key").unlink()
    assert found() == b"made anew"
    assert found() == b"made anew"
    assert (disk_cache.statistics.read, disk_cache.statistics.rebuilt) == (1, 1)


def test_files_are_looked_at_when_they_are_open(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner and the mode are those of the open file: another one cannot take its place in between."""
    looked: list[str | int] = []
    status = trusted_files.status
    monkeypatch.setattr(trusted_files, "status", lambda place: looked.append(place) or status(place))
    assert found() == b"ours"
    assert [place for place in looked if isinstance(place, str) and place.endswith((disk_cache.ENDING, ".key"))] == []
    assert len([place for place in looked if isinstance(place, int)]) == 2


# -- directories


def test_the_message_for_an_open_directory_does_not_keep_what_is_in_it(tmp_path: Path, settings: Path) -> None:
    """The way out of an open directory is a new one; nothing advises to close the one that others have written to."""
    tmp_path.chmod(0o777)
    with pytest.raises(gt.GradTapeError, match="does not exist yet") as caught:
        gt.config.cache_dir = tmp_path
    assert "chmod" not in str(caught.value)


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o702, 0o777])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_directory_above_that_others_can_write_to_is_refused(
    tmp_path: Path, settings: Path, mode: int, depth: int
) -> None:
    """Whoever can write to a directory above, the group included, can put another one in the place of this one."""
    above = tmp_path / "above"
    below = above.joinpath(*["below"] * depth)
    below.mkdir(parents=True, mode=0o700)
    above.chmod(mode)
    with pytest.raises(gt.GradTapeError, match=r"in its place \(.*above has mode"):
        gt.config.cache_dir = below


@pytest.mark.parametrize("mode", [0o1777, 0o1770])
def test_a_sticky_directory_above_is_good_enough(tmp_path: Path, settings: Path, mode: int) -> None:
    """In a directory like `/tmp`, others cannot exchange what is the user's; as the directory itself it will not do."""
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(mode)
    assert trusted_files.cache_directory_with_secret(above / "code") == above / "code"
    with pytest.raises(gt.GradTapeError, match="others can write to it"):
        trusted_files.cache_directory_with_secret(above)


def test_a_directory_of_another_user_is_refused(tmp_path: Path, settings: Path, give_away: GiveAway) -> None:
    """Neither the directory nor one above it may belong to another user."""
    below = tmp_path / "above" / "below"
    below.mkdir(parents=True, mode=0o700)
    give_away(below)
    with pytest.raises(gt.GradTapeError, match="it belongs to another user"):
        gt.config.cache_dir = below
    with pytest.raises(gt.GradTapeError, match="above it belongs to another user"):
        gt.config.cache_dir = below / "code"


def test_links_on_the_way(tmp_path: Path, settings: Path, give_away: GiveAway) -> None:
    """A link of the user's is followed, and what it leads to is looked at; a link of another user's is refused."""
    real, link, back = tmp_path / "real", tmp_path / "link", tmp_path / "real" / "back"
    real.mkdir(0o700)
    link.symlink_to("./real")
    back.symlink_to("../real/../link")
    assert trusted_files.cache_directory_with_secret(back / "code") == real / "code"
    real.chmod(0o770)
    with pytest.raises(gt.GradTapeError, match="in its place"):
        trusted_files.cache_directory_with_secret(link / "code")
    with pytest.raises(gt.GradTapeError, match="others can write to it"):
        trusted_files.cache_directory_with_secret(link)
    real.chmod(0o700)
    give_away(link)
    with pytest.raises(gt.GradTapeError, match=r"a link on the way belongs to another user \(.*link\)"):
        trusted_files.cache_directory_with_secret(back / "code")


def test_links_that_go_round_are_refused(tmp_path: Path, settings: Path) -> None:
    """Two links that lead to each other raise instead of being followed for ever."""
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    with pytest.raises(gt.GradTapeError, match="links on the way"):
        gt.config.cache_dir = tmp_path / "one" / "code"


def test_all_directories_that_are_made_are_private(tmp_path: Path, settings: Path) -> None:
    """Also those above are made for the user alone, whatever the umask is."""
    before = os.umask(0o002)
    try:
        trusted_files.cache_directory_with_secret(tmp_path / "some" / "where" / "code")
    finally:
        os.umask(before)
    made = [tmp_path / "some", tmp_path / "some" / "where", settings / "gradtape"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 3


def test_a_directory_above_that_goes_bad(folder: Path) -> None:
    """The whole way is looked at in each use: from then on nothing is read or written, with one warning."""
    folder.parent.chmod(0o770)
    with pytest.warns(JitWarning, match="in its place"):
        assert found() == b"made anew"
    assert found() == b"made anew"
    folder.parent.chmod(0o700)
    assert found() == b"ours"


# -- the key


def test_the_key_is_the_users_alone(folder: Path, settings: Path) -> None:
    """It is a file that only the user can read, among the user's settings and not beside the entries."""
    key = settings / "gradtape" / "cache.key"
    assert [path.name for path in key.parent.iterdir()] == ["cache.key"]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == trusted_files.SECRET_BYTES
    assert [path.suffix for path in folder.iterdir()] == [disk_cache.ENDING]


def spoil(key: Path, how: str, give_away: GiveAway) -> None:
    if how == "open to the group":
        key.chmod(0o640)
    elif how == "short":
        key.write_bytes(b"known")
    elif how == "a link":
        os.replace(key, key.with_name("other"))
        key.symlink_to("other")
    elif how == "in an open directory":
        key.parent.chmod(0o770)
    else:
        give_away(key)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("open to the group", "others can read"),
        ("of another user", "belongs to another user"),
        ("short", "has 5 bytes"),
        ("a link", "cannot be opened"),
        ("in an open directory", "others can write to it"),
    ],
)
def test_a_key_that_others_may_know_is_not_used(
    folder: Path, settings: Path, give_away: GiveAway, how: str, message: str
) -> None:
    """With a key that is not the user's alone, nothing is read from disk, and the setting is refused."""
    spoil(settings / "gradtape" / "cache.key", how, give_away)
    with pytest.warns(JitWarning, match=message):
        assert found() == b"made anew"
    with pytest.raises(gt.GradTapeError, match="no place for the key") as caught:
        gt.config.cache_dir = folder
    assert message in str(caught.value).replace("\n", " ")
    assert "XDG_CONFIG_HOME" in str(caught.value)


def test_processes_that_make_the_key_at_once_have_one(settings: Path) -> None:
    """Of several processes that need a key for the first time, one makes it, and all use that."""
    call = [sys.executable, "-c", "from gradtape import trusted_files; print(trusted_files.secret().hex())"]
    environment = {**os.environ, "PYTHONPATH": str(Path(gt.__file__).parents[1])}
    processes = [subprocess.Popen(call, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(4)]
    answers = {process.communicate()[0].strip() for process in processes}
    assert answers == {trusted_files.secret().hex()}
    assert [path.name for path in (settings / "gradtape").iterdir()] == ["cache.key"]


def test_a_key_where_files_cannot_be_linked(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without hard links the key is made all the same."""

    def refuse(one: object, other: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(trusted_files.os, "link", refuse)
    assert trusted_files.secret() == trusted_files.secret()


def test_settings_that_are_no_absolute_path_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative directory for settings is as none: the key does not depend on where the process is."""
    monkeypatch.setenv("HOME", "/home/anna")
    for given in ("", "relative"):
        monkeypatch.setenv("XDG_CONFIG_HOME", given)
        assert trusted_files.secret_folder() == "/home/anna/.config/gradtape"


def test_where_permissions_are_not_looked_at(tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the mode says nothing of permissions (on Windows) it is not looked at, and entries are authenticated."""
    monkeypatch.setattr(trusted_files, "is_checked", lambda: False)
    monkeypatch.setattr(disk_cache, "statistics", disk_cache.CacheStatistics())
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    gt.config.cache_dir = tmp_path / "open"
    try:
        assert disk_cache.object_code(["text"], lambda: b"ours") == b"ours"
        assert found() == b"ours"
        path = entry(tmp_path / "open")
        path.write_bytes(path.read_bytes()[:-4] + b"evil")
        assert found() == b"made anew"
    finally:
        gt.config.cache_dir = None
