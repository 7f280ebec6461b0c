"""torch.save and torch.load: what is kept, what is read of PyTorch's own files, and what is refused."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtape.nn.storage import written
from gradtape.standins import torch


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
    for padding in range(length - 256, length):
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
    return b"X" + struct.pack("<I", len(value)) + value.encode()


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
