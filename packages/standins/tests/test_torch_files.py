"""torch.save and torch.load: what is kept, what is read of PyTorch's own files, and what is refused."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtape.nn.storage import written
from gradtape_standins import torch


def returned(thing: Any) -> Any:
    """What is loaded of what was saved."""
    file = io.BytesIO()
    torch.save(thing, file)
    file.seek(0)
    return torch.load(file)


def test_nested_structures_come_back_as_they_were() -> None:
    """Containers, their kinds and order, numbers, texts, None, types and flags of tensors are kept."""
    thing = {
        "numbers": [1, -2.5, True, None, "text", float("inf")],
        ("a", 1): (torch.ones(2, dtype=torch.float64), torch.tensor([True, False])),
        3: OrderedDict(b=torch.arange(3), a=torch.Size([2, 3])),
        "kind": torch.float16,
        "set": {1, 2},
        "parameter": torch.nn.Parameter(torch.zeros(2)),
        "leaf": torch.ones(1, requires_grad=True),
        "array": np.arange(4),
    }
    back = returned(thing)
    assert list(back) == list(thing)
    assert back["numbers"] == thing["numbers"]
    assert [x.dtype for x in back["a", 1]] == [torch.float64, torch.bool]
    assert type(back[3]) is OrderedDict
    assert list(back[3]) == ["b", "a"]
    assert back[3]["a"] == torch.Size([2, 3])
    assert back["kind"] is torch.float16
    assert back["set"] == {1, 2}
    assert isinstance(back["parameter"], torch.nn.Parameter)
    assert back["leaf"].requires_grad
    np.testing.assert_array_equal(back["array"], thing["array"])


def test_a_run_goes_on_from_a_file_with_the_same_bits(tmp_path: Path) -> None:
    """A model and an optimiser that were stored and loaded make the same steps as those that were not."""
    path = tmp_path / "run.pt"

    def made() -> Any:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
        return model, torch.optim.Adam(model.parameters(), lr=0.1)

    def step(model: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        (model(torch.arange(8.0).reshape(4, 2)) ** 3).sum().backward()
        optimizer.step()

    model, optimizer = made()
    step(model, optimizer)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    other, resumed = made()
    held = torch.load(path)
    other.load_state_dict(held["model"])
    resumed.load_state_dict(held["optimizer"])
    step(model, optimizer)
    step(other, resumed)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name])


@pytest.mark.parametrize("beginning", [b"\x80", b"PK"])
def test_a_file_is_known_by_more_than_its_first_bytes(beginning: bytes) -> None:
    """A header whose length is written like the beginning of a pickle or of an archive is still a header."""
    length = int.from_bytes(beginning, "little") + (256 if len(beginning) == 1 else 0)
    for padding in range(max(length - 1024, 0), length):
        content = written({"0": np.ones(1)}, {"format": "of others", "padding": "x" * padding})
        if content.startswith(beginning):
            break
    assert content.startswith(beginning)
    assert torch.equal(torch.load(io.BytesIO(content))["0"], torch.ones(1, dtype=torch.float64))


def test_what_is_no_data_is_not_stored() -> None:
    """A whole module has code in it: the message says to store its state_dict."""
    with pytest.raises(RuntimeError, match="state_dict"):
        torch.save(torch.nn.Linear(1, 1), io.BytesIO())


# -- files of PyTorch's own


def archive(instructions: bytes, **numbers: bytes) -> bytes:
    """A file as PyTorch writes it, with a pickle of these instructions."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("archive/data.pkl", b"\x80\x02" + instructions + b".")
        made.writestr("archive/byteorder", "little")
        for key, content in numbers.items():
            made.writestr(f"archive/data/{key.removeprefix('_')}", content)
    return file.getvalue()


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def tensor(size: int = 3, offset: int = 0, name: str = "_rebuild_tensor_v2") -> bytes:
    """The instructions for a tensor over the storage 0."""
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + b"K\x03tQ"
    shape = b"K" + bytes([size]) + b"\x85K\x01\x85"
    flags = b"\x89ccollections\nOrderedDict\n)R"
    return f"ctorch._utils\n{name}\n".encode() + b"(" + storage + b"K" + bytes([offset]) + shape + flags + b"tR"


FLOATS = np.array([1.0, 2.0, 3.0], "<f4").tobytes()


def test_files_of_pytorch_are_read() -> None:
    """A state_dict that PyTorch has stored is loaded, tensors and nesting."""
    content = archive(b"}" + text("w") + tensor() + b"s", _0=FLOATS)
    loaded = torch.load(io.BytesIO(content))
    assert list(loaded) == ["w"]
    assert torch.equal(loaded["w"], torch.tensor([1.0, 2.0, 3.0]))


@pytest.mark.parametrize(
    ("instructions", "said"),
    [
        (b"cos\nsystem\n" + text("echo") + b"\x85R", "would use os.system"),
        (b"cbuiltins\neval\n" + text("1") + b"\x85R", "would use builtins.eval"),
        (b"ctorch.nn.modules.linear\nLinear\n)\x81", "would use torch.nn.modules.linear.Linear"),
        (tensor(name="_rebuild_device_tensor"), "would use"),
        (tensor(size=4), "needs 4 numbers, of which 3 are there"),
        (tensor(offset=1), "needs 4 numbers"),
        (text("x") + b"}b", "changes a str"),
        (b"]K\x01\x85R", "calls a list"),
        (b"\x8c\x01a\x8c\x01b\x93", "has a step STACK_GLOBAL"),
        (b"K", "damaged"),
    ],
)
def test_hostile_and_damaged_pickles_are_refused(instructions: bytes, said: str) -> None:
    """Whatever would call something, or reach beyond the numbers of the file, is refused with the reason."""
    with pytest.raises(pickle.UnpicklingError, match=said):
        torch.load(io.BytesIO(archive(instructions, _0=FLOATS)), weights_only=False)


def test_other_files_are_refused_or_read_as_what_they_are(tmp_path: Path) -> None:
    """A bare pickle, rubbish, a foreign archive and a missing file are errors; safetensors of others are tensors."""

    class Hostile:
        def __reduce__(self) -> Any:
            return os.system, ("false",)

    with pytest.raises(pickle.UnpicklingError, match="bare pickle"):
        torch.load(io.BytesIO(pickle.dumps(Hostile())))
    with pytest.raises(pickle.UnpicklingError, match="cut off"):
        torch.load(io.BytesIO(b"rubbish"))
    foreign = io.BytesIO()
    with zipfile.ZipFile(foreign, "w") as made:
        made.writestr("a/readme.txt", "hello")
    with pytest.raises(pickle.UnpicklingError, match="not one of PyTorch's"):
        torch.load(io.BytesIO(foreign.getvalue()))
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "nowhere.pt")
    assert list(torch.load(io.BytesIO(written({"w": np.ones(2)})))) == ["w"]
    twisted = written({"0": np.ones(1)}, {"format": "gradtape torch", "structure": json.dumps({"tensor": "7"})})
    with pytest.raises(pickle.UnpicklingError, match="damaged"):
        torch.load(io.BytesIO(twisted))


# -- damaged and hostile files


def stored() -> bytes:
    """A file with a bit of everything in it."""
    file = io.BytesIO()
    model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1))
    torch.save({"model": model.state_dict(), "step": 3, ("a", 1): [2.5, None, {1, 2}], "x": np.arange(3)}, file)
    return file.getvalue()


def test_the_same_things_make_the_same_bytes() -> None:
    """A file has no dates in it, and nothing that depends on where objects lie in memory."""
    torch.manual_seed(0)
    first = stored()
    torch.manual_seed(0)
    assert stored() == first


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_file_is_refused_as_one_that_cannot_be_unpickled(seed: int) -> None:
    """Whatever byte is changed and wherever the file ends, it is loaded, or the error is UnpicklingError."""
    content = stored()
    rng = np.random.default_rng(seed)
    start = content.index(b"\x80\x02")  # the pickle itself, behind the checksum that would notice a change
    end = content.index(b"PK", start)
    for _ in range(300):
        changed = bytearray(content)
        for place in rng.integers(0, len(content), rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        instructions = bytearray(content[start + 2 : end - 1])
        for place in rng.integers(0, len(instructions), rng.integers(1, 4)):
            instructions[place] = rng.integers(256)
        numbers = {f"_{key}": bytes(64) for key in range(8)}
        for damaged in (bytes(changed), content[: rng.integers(len(content))], archive(bytes(instructions), **numbers)):
            try:
                torch.load(io.BytesIO(damaged))
            except pickle.UnpicklingError:
                continue


@pytest.mark.parametrize(
    "content", [b"", b"P", b"PK", b"PK\x03\x04", b"\x80", b"{}", bytes(100), b"PK\x05\x06" + bytes(18)]
)
def test_what_is_no_file_of_pytorch_is_refused(content: bytes) -> None:
    """Files that are empty, cut off after their first bytes, or of something else are UnpicklingErrors."""
    with pytest.raises(pickle.UnpicklingError):
        torch.load(io.BytesIO(content))


def doubled(times: int) -> bytes:
    """The instructions for a tuple of two times a tuple of two times ..., which takes few bytes and many parts."""
    return b")" + b"".join(b"q" + bytes([n]) + b"h" + bytes([n]) + b"\x86" for n in range(times))


@pytest.mark.parametrize(
    "instructions",
    [
        b"}" + doubled(100) + b"K\x01s",
        b"}(" + doubled(100) + b"K\x01u",
        b"c__builtin__\nset\n](" + doubled(100) + b"e\x85R",
        b"ccollections\nOrderedDict\n]" + doubled(100) + b"K\x01\x86a\x85R",
        b"ctorch\nSize\n" + doubled(100) + b"\x85R",
        b"(" + text("storage") + b"ctorch\nFloatStorage\n" + doubled(100) + text("cpu") + b"K\x03tQ",
        b"ctorch._utils\n_rebuild_tensor_v2\n(" + doubled(90) * 5 + b"tR",
    ],
)
def test_a_structure_that_refers_to_itself_over_and_over_is_refused(instructions: bytes) -> None:
    """A few hundred bytes that describe 2**100 parts are refused before these are hashed, compared or printed."""
    with pytest.raises(pickle.UnpicklingError):
        torch.load(io.BytesIO(archive(instructions, _0=FLOATS)))


def test_many_marks_are_read_in_proportion_to_their_number() -> None:
    """Nested beginnings cost a step each: a hundred thousand of them are read."""
    loaded = torch.load(io.BytesIO(archive(b"(" * 100_000 + b"t" * 100_000)))
    depth = 0
    while loaded:
        (loaded,), depth = loaded, depth + 1
    assert depth == 99_999


def strided(size: int, stride: int) -> bytes:
    """The instructions for a tensor of `size` elements, `stride` numbers apart, over three numbers."""
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + b"K\x03tQ"
    shape = b"J" + struct.pack("<i", size) + b"\x85J" + struct.pack("<i", stride) + b"\x85"
    flags = b"\x89ccollections\nOrderedDict\n)R"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\x00" + shape + flags + b"tR"


def test_elements_that_are_not_stored_are_refused_beyond_a_limit() -> None:
    """A stretched tensor is loaded; one that claims 2**30 elements over a few bytes is not, nor many smaller ones."""
    assert torch.load(io.BytesIO(archive(strided(1000, 0), _0=FLOATS))).tolist() == [1.0] * 1000
    for instructions in (strided(1 << 30, 0), b"](" + strided(1 << 23, 0) * 4 + b"e", strided(3, 2)):
        with pytest.raises(pickle.UnpicklingError, match="are there"):
            torch.load(io.BytesIO(archive(instructions, _0=FLOATS)))


def test_parts_that_overlap_are_refused() -> None:
    """An archive whose parts are longer together than itself has the same bytes in several of them."""
    content = bytearray(archive(b"N", _0=bytes(1000)))
    entry = content.rindex(b"PK\x01\x02")
    content[entry + 20 : entry + 28] = struct.pack("<II", 1 << 20, 1 << 20)
    with pytest.raises(pickle.UnpicklingError, match="overlap"):
        torch.load(io.BytesIO(bytes(content)))


def test_files_of_the_stand_in_need_no_other_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `save` writes is read where safetensors is not installed."""
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    assert torch.equal(returned({"w": torch.arange(3.0)})["w"], torch.arange(3.0))


def test_tensors_that_are_one_are_one_again() -> None:
    """What is stored twice is loaded once, a list that holds itself too."""
    x = torch.ones(2)
    thing: list[Any] = [x, x, torch.ones(2, 2).t()]
    thing.append(thing)
    back = returned(thing)
    assert back[0] is back[1]
    assert back[3] is back
    assert back[2].shape == (2, 2)


def test_versions_of_modules_are_kept() -> None:
    """A state_dict carries the versions of modules through a file."""
    state = torch.nn.BatchNorm1d(2).state_dict()
    assert returned(state)._metadata == state._metadata == OrderedDict({"": {"version": 2}})


def test_arrays_of_another_byte_order_keep_their_numbers() -> None:
    """Two arrays of one dtype, whose byte order a pickle tells after the first use, are read in that order."""
    kind = (
        b"cnumpy\ndtype\n"
        + text("f4")
        + b"\x89\x88\x87Rq\x00(K\x03"
        + text(">")
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    )

    def array(kind: bytes) -> bytes:
        blank = b"cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85c_codecs\nencode\n"
        numbers = np.array([1.0, 2.0], ">f4").tobytes().decode("latin1")
        start = blank + text("b") + text("latin1") + b"\x86R\x87R(K\x01K\x02\x85" + kind + b"\x89"
        return start + b"c_codecs\nencode\n" + text(numbers) + text("latin1") + b"\x86Rtb"

    loaded = torch.load(io.BytesIO(archive(b"](" + array(kind) + array(b"h\x00") + b"e")))
    assert [x.tolist() for x in loaded] == [[1.0, 2.0], [1.0, 2.0]]
    swapped = np.array([1.0, 2.0], ">f4")
    np.testing.assert_array_equal(returned([swapped, swapped + 1])[1], [2.0, 3.0])


def test_a_flipped_bit_is_found() -> None:
    """A file of `torch.save` in which one bit of a number was changed is refused."""
    file = io.BytesIO()
    torch.save({"weight": torch.ones(3), "epoch": 2}, file)
    content = bytearray(file.getvalue())
    content[content.index(np.ones(3, "f4").tobytes()) + 2] ^= 0x10
    with pytest.raises(pickle.UnpicklingError):
        torch.load(io.BytesIO(bytes(content)))
