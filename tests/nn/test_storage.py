"""Files of numbers: what is saved comes back; what is cut off, hostile or of another model is refused whole."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt


def file(header: Any, data: bytes = b"") -> bytes:
    """The bytes of a file with that header, whatever it says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype: str = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def model() -> gt.nn.Sequential:
    return gt.nn.Sequential(gt.nn.Dense(2, 3), gt.nn.BatchNorm1d(3)).initialise(np.random.default_rng(0))


def test_every_dtype_and_shape_comes_back(tmp_path: Path) -> None:
    """Scalars, empty arrays, views and all kinds of numbers come back bit by bit, in the structure they had."""
    rng = np.random.default_rng(0)
    tree = {
        "kinds": [rng.normal(size=3).astype(kind) for kind in ["f2", "f4", "f8", "c8", "i1", "i8", "u2", "?"]],
        "odd": (np.array(2.5), np.zeros((0, 3)), rng.normal(size=(4, 6))[::2, ::-3].T, np.arange(3, dtype=">i4")),
    }
    gt.nn.save(tmp_path / "a", tree, {"note": "hello"})
    back = gt.nn.load(tmp_path / "a", tree)
    assert isinstance(back["odd"], tuple)
    for one, other in zip([*tree["kinds"], *tree["odd"]], [*back["kinds"], *back["odd"]], strict=True):
        assert one.shape == other.shape
        np.testing.assert_array_equal(one, other)
    assert set(gt.nn.load(tmp_path / "a")) == {*(f"kinds.{i}" for i in range(8)), *(f"odd.{i}" for i in range(4))}
    assert gt.nn.storage.read(tmp_path / "a")[1] == {"note": "hello"}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


WHOLE = file({"a": entry()}, bytes(8))
HOSTILE = {
    "nothing": (b"", "0 bytes"),
    "seven bytes": (b"1234567", "7 bytes"),
    "cut off in the header": (WHOLE[:20], "is cut off"),
    "cut off in the data": (WHOLE[:-3], "is damaged"),
    "a header of exabytes": (struct.pack("<Q", 2**60) + b"{}", "its header would take 1152921504606846976 bytes"),
    "no JSON": (file(b"{nope", bytes(8)), "is damaged"),
    "another JSON": (file(b"[1]", bytes(8)), "is damaged"),
    "nested beyond reason": (file(b"[" * 100_000, bytes(8)), "is damaged"),
    "overlapping": (file({"a": entry(), "b": entry(offsets=(4, 12))}, bytes(12)), "offset"),
    "beyond the end": (file({"a": entry(offsets=(0, 800))}, bytes(8)), "is damaged"),
    "before the beginning": (file({"a": entry(offsets=(-8, 0))}, bytes(8)), "is damaged"),
    "a shape of another size": (file({"a": entry("F64")}, bytes(8)), "is damaged"),
    "a shape beyond memory": (file({"a": entry(shape=(2**62, 4))}, bytes(8)), "overflow"),
    "objects": (file({"a": entry("O")}, bytes(8)), "is damaged"),
    "a type NumPy lacks": (file({"a": entry("BF16", (4,))}, bytes(8)), "arrays of the type BF16"),
    "more behind the end": (WHOLE + b"more", "is damaged"),
    "texts that are none": (file({"__metadata__": {"x": [1]}, "a": entry()}, bytes(8)), "is damaged"),
    "a pickle": (b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix", "no safetensors file|is damaged"),
    "another model": (WHOLE, "of another model: .*missing"),
    "names that look like paths": (file({"../../etc/passwd": entry()}, bytes(8)), "of another model"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_is_not_whole_is_refused_and_nothing_is_loaded(tmp_path: Path, kind: str) -> None:
    """Each is refused with its reason, as an error of ours, and the model has the numbers it had."""
    content, says = HOSTILE[kind]
    (tmp_path / "bad").write_bytes(content)
    target = model()
    before = target.state_dict()
    with pytest.raises(gt.nn.CheckpointError, match=says) as caught:
        gt.nn.load(tmp_path / "bad", target)
    assert "nothing was loaded" in str(caught.value)
    assert all(np.array_equal(value, before[name]) for name, value in target.state_dict().items())
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


@pytest.mark.parametrize("part", range(0, 100, 7))
def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path, part: int) -> None:
    """However much of the end is missing, nothing is loaded."""
    gt.nn.save(tmp_path / "whole", model())
    content = (tmp_path / "whole").read_bytes()
    (tmp_path / "cut").write_bytes(content[: len(content) * part // 100])
    with pytest.raises(gt.nn.CheckpointError):
        gt.nn.load(tmp_path / "cut")


def test_a_model_of_other_sizes_or_kinds_is_refused(tmp_path: Path) -> None:
    """The array that differs is named with both shapes or dtypes, for modules and for structures."""
    gt.nn.save(tmp_path / "a", model())
    other = gt.nn.Sequential(gt.nn.Dense(2, 4), gt.nn.BatchNorm1d(4)).initialise(np.random.default_rng(0))
    with pytest.raises(gt.nn.CheckpointError, match=r"'0.weight' has shape \(3, 2\) in what is given, and \(4, 2\)"):
        gt.nn.load(tmp_path / "a", other)
    gt.nn.save(tmp_path / "b", {"n": np.ones(2)})
    with pytest.raises(gt.nn.CheckpointError, match="'n' has dtype float64 in what is given, and int64"):
        gt.nn.load(tmp_path / "b", {"n": np.ones(2, int)})
    with pytest.raises(gt.nn.CheckpointError, match="'m' is missing and 'n' is not in"):
        gt.nn.load(tmp_path / "b", {"m": np.ones(2)})


def test_truth_values_are_true_or_false(tmp_path: Path) -> None:
    """A byte that is neither 0 nor 1 counts as true, like any other."""
    (tmp_path / "a").write_bytes(file({"a": entry("BOOL", (3,), (0, 3))}, bytes([0, 1, 7])))
    assert (gt.nn.load(tmp_path / "a")["a"] == np.array([False, True, True])).all()


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ({"a": np.array(["text"])}, "'a' is a ndarray of dtype <U4"),
        ({"a": None}, "'a' is a NoneType of dtype object"),
        ({"a": np.ones(1, complex)}, "dtype complex128"),
        ({"a.b": np.ones(1), "a": {"b": np.ones(1)}}, "two arrays are called 'a.b'"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(tmp_path: Path, what: Any, says: str) -> None:
    """No file appears, and an older one stays."""
    gt.nn.save(tmp_path / "a", {"x": np.ones(1)})
    with pytest.raises(gt.GradTapeError, match=says):
        gt.nn.save(tmp_path / "a", what)
    assert list(gt.nn.load(tmp_path / "a")) == ["x"]
    with pytest.raises(gt.GradTapeError, match="metadata"):
        gt.nn.save(tmp_path / "a", {"x": np.ones(1)}, {"n": 1})  # type: ignore[dict-item]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the disk gives up halfway, the old file is whole and no other is left behind."""
    gt.nn.save(tmp_path / "a", {"x": np.ones(1)})

    def fail(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="no space"):
        gt.nn.save(tmp_path / "a", {"x": np.zeros(1)})
    assert gt.nn.load(tmp_path / "a")["x"].tolist() == [1.0]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_missing_files_folders_and_libraries_are_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path or the package is named, with what to do."""
    with pytest.raises(gt.nn.CheckpointError, match="there is no file"):
        gt.nn.load(tmp_path / "none")
    with pytest.raises(gt.nn.CheckpointError, match="cannot be read"):
        gt.nn.load(tmp_path)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(gt.OperandError, match=r"safetensors, which is not installed(.|\n)*gradtape\[train\]"):
        gt.nn.load(tmp_path / "none")


def test_model_and_path_the_other_way_round(tmp_path: Path) -> None:
    """A path that is a model is called one, by the writer and by the reader."""
    model = gt.nn.Dense(2, 1, rng=np.random.default_rng(0))
    for call in (gt.nn.save, gt.nn.load):
        with pytest.raises(gt.OperandError, match="the path is a Dense") as caught:
            call(model, str(tmp_path / "model.safetensors"))  # type: ignore[operator]
        assert "the path comes first" in str(caught.value)


def flipped(content: bytes, bit: int) -> bytes:
    """`content` with one bit changed."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def small() -> dict[str, Any]:
    """Arrays of several kinds, one of them empty."""
    rng = np.random.default_rng(0)
    return {
        "a": rng.normal(size=(3, 5)),
        "b": rng.normal(size=7).astype("f4"),
        "empty": np.zeros((1, 0)),
        "n": np.arange(6),
        "yes": np.array([True, False, True]),
    }


def same(one: Any, other: Any) -> bool:
    """Whether two dictionaries of arrays are the same in names, dtypes, shapes and bits."""
    return list(one) == list(other) and all(
        (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes()) for x, y in zip(one.values(), other.values())
    )


def test_a_flipped_bit_never_loads_as_other_numbers(tmp_path: Path) -> None:
    """Every 97th bit flipped, header and numbers: the file is refused and explained, or gives the same numbers."""
    path = tmp_path / "a"
    gt.nn.save(path, small(), {"note": "hello"})
    content = path.read_bytes()
    bits = range(0, 8 * len(content), 97)
    refused: list[str] = []
    for bit in bits:
        path.write_bytes(flipped(content, bit))
        try:
            found = gt.nn.load(path)
        except gt.nn.CheckpointError as error:
            refused.append(str(error))
        else:
            assert same(found, small()), bit
    assert all("nothing was loaded" in text for text in refused)
    assert len(refused) >= len(bits) - 3


def test_every_flipped_bit_of_the_numbers_is_found(tmp_path: Path) -> None:
    """Each bit behind the header is covered by the checksum of its array, which is named."""
    path = tmp_path / "a"
    gt.nn.save(path, small())
    content = path.read_bytes()
    first = 8 + int.from_bytes(content[:8], "little")
    for bit in range(8 * first, 8 * len(content)):
        path.write_bytes(flipped(content, bit))
        with pytest.raises(gt.nn.CheckpointError, match=r"the numbers in '\w+' are not those that were saved"):
            gt.nn.load(path)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b'"note":"hello"', b'"note":"hullo"', "its metadata is not what was saved"),
        (b'"dtype":"I64"', b'"dtype":"U64"', "the numbers in 'n'"),
        (b'"empty":{', b'"emptz":{', "its arrays are not those that were saved; see 'empty', 'emptz'"),
        (b'"shape":[1,0]', b'"shape":[3,0]', "the numbers in 'empty'"),
        (rb"\"version\": 1", rb"\"version\": 7", "checksums of version 7; this gradtape knows version 1"),
        (rb"{\"version\"", rb"x\"version\"", "its checksums cannot be read"),
    ],
)
def test_what_the_header_says_is_covered_by_the_checksums(tmp_path: Path, old: bytes, new: bytes, says: str) -> None:
    """Texts, names, dtypes and shapes that were changed are found, and the message says which."""
    path = tmp_path / "a"
    gt.nn.save(path, small(), {"note": "hello"})
    content = path.read_bytes()
    assert content.count(old) == 1
    path.write_bytes(content.replace(old, new))
    with pytest.raises(gt.nn.CheckpointError, match=says):
        gt.nn.load(path)


def test_files_without_checksums_load(tmp_path: Path) -> None:
    """What another library has written, or an earlier version, is read as it is."""
    safetensors = pytest.importorskip("safetensors.numpy")
    (tmp_path / "a").write_bytes(safetensors.save(small(), {"note": "hello"}))
    assert same(gt.nn.load(tmp_path / "a"), small())
    assert gt.nn.storage.read(tmp_path / "a")[1] == {"note": "hello"}


def test_other_libraries_read_what_is_saved(tmp_path: Path) -> None:
    """The checksums are texts like others, so the file is one of the safetensors format."""
    safetensors = pytest.importorskip("safetensors.numpy")
    gt.nn.save(tmp_path / "a", small())
    assert same(dict(sorted(safetensors.load_file(tmp_path / "a").items())), small())


def test_the_name_of_the_checksums_is_taken(tmp_path: Path) -> None:
    """A text that would stand in the place of the checksums is refused."""
    with pytest.raises(gt.OperandError, match=r"the name 'gradtape\.checksums' is taken"):
        gt.nn.save(tmp_path / "a", small(), {"gradtape.checksums": "mine"})
