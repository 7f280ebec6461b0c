"""Ways off the tape by text, bytes, files and functions of numbers: a value that comes back is explained."""

from __future__ import annotations

import array
import cmath
import copy
import ctypes
import io
import json
import logging
import math
import pickle
import struct
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt

POINT = 1.3  # too short to be recognised by its digits
LONG = 1.3172946
FORMAT = "{:.4f}"


def saved_and_loaded(x: Any) -> Any:
    buffer = io.BytesIO()
    np.save(buffer, x)
    buffer.seek(0)
    return x * np.load(buffer)


def saved_by_name(x: Any) -> Any:
    buffer = io.BytesIO()
    np.savez(buffer, a=x)
    buffer.seek(0)
    return x * np.load(buffer)["a"]


def saved_as_text(x: Any) -> Any:
    buffer = io.StringIO()
    np.savetxt(buffer, np.stack([x, x]))
    buffer.seek(0)
    return x * np.loadtxt(buffer)[0]


def written_to_a_file(x: Any, path: Path) -> Any:
    with open(path, "w") as file:
        file.write(f"{x:.3f}")
    with open(path) as file:
        number = float(file.read())
    return x * number


def printed_to_a_file(x: Any, path: Path) -> Any:
    with path.open("w") as file:
        print(x, file=file)
    return x * float(path.read_text())


def written_by_a_path(x: Any, path: Path) -> Any:
    path.write_text(str(x))
    return x * float(path.read_text())


def dumped_as_json(x: Any, path: Path) -> Any:
    with open(path, "w") as file:
        json.dump({"x": float(x)}, file)
    with open(path) as file:
        held = json.load(file)
    return x * held["x"]


def written_by_its_method(x: Any, path: Path) -> Any:
    x.tofile(path)
    return x * np.fromfile(path)[0]


def by_name(x: Any) -> Any:
    shown = str(x)
    parts = shown.strip().split(",")
    return x * float(parts[0])


LOST: dict[str, Callable[[Any], Any]] = {
    "cmath": lambda x: x * cmath.exp(x).real,
    "complex": lambda x: x * complex(x).real,
    "struct": lambda x: x * struct.unpack("d", struct.pack("d", x))[0],
    "json": lambda x: x * json.loads(json.dumps([float(x)]))[0],
    "ctypes": lambda x: x * ctypes.c_double(x).value,
    "hex": lambda x: x * float.fromhex(float(x).hex()),
    "array": lambda x: x * array.array("d", [x])[0],
    "bytes": lambda x: x * np.frombuffer(x.tobytes())[0],
    "bytes()": lambda x: x * np.frombuffer(bytes(x))[0],
    "str": lambda x: x * float(str(x)),
    "repr": lambda x: (
        x * float(repr(x).replace("Variable(", "").replace("Tensor(", "").split(",")[0].strip("Traced()"))
    ),
    "format": lambda x: x * float(format(x, ".3f")),
    "f-string": lambda x: x * float(f"{x:.17g}"),
    "f-string of two": lambda x: x * sum(float(part) for part in f"{x} {x}".split()),
    "str.format": lambda x: x * float(FORMAT.format(x)),
    "percent": lambda x: x * float("%.3f" % x),  # noqa: UP031
    "array2string": lambda x: x * float(np.array2string(x)),
    "array_str": lambda x: x * float(np.array_str(x)),
    "save": saved_and_loaded,
    "savez": saved_by_name,
    "savetxt": saved_as_text,
    "name": by_name,
}

LOST_IN_FILES = [written_to_a_file, printed_to_a_file, written_by_a_path, dumped_as_json, written_by_its_method]


def by_grad(f: Callable[[Any], Any], point: float) -> Any:
    return gt.grad(f)(point)


def by_tape(f: Callable[[Any], Any], point: float) -> Any:
    x = gt.Variable(point)
    with gt.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x)


def by_backward(f: Callable[[Any], Any], point: float) -> Any:
    x = gt.tensor(point, requires_grad=True)
    f(x).backward()
    return x.grad


def by_jvp(f: Callable[[Any], Any], point: float) -> Any:
    return gt.jvp(f, (point,), (1.0,))[1]


def by_jacfwd(f: Callable[[Any], Any], point: float) -> Any:
    return gt.jacfwd(f)(point)


def by_jit(f: Callable[[Any], Any], point: float) -> Any:
    return gt.jit(gt.grad(f))(np.float64(point))


WAYS = [by_grad, by_tape, by_backward, by_jvp, by_jacfwd, by_jit]


def _codes(way: Callable[..., Any], f: Callable[[Any], Any], point: float) -> list[str]:
    problems: list[Any] = []
    with gt.explain.configure(GT210="note"), gt.explain.listening(problems.append):
        way(f, point)
    return [problem.code for problem in problems]


@pytest.mark.filterwarnings("ignore::gradtape.errors.JitWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LOST)
def test_what_comes_back_is_explained(name: str, way: Callable[..., Any]) -> None:
    """A number that left as text, bytes or a plain number and is an operand again is a gradient lost."""
    assert "GT210" in _codes(way, LOST[name], POINT)


@pytest.mark.parametrize("way", WAYS[:-1])
@pytest.mark.parametrize("program", LOST_IN_FILES)
def test_what_is_read_from_the_file_it_was_written_to_is_explained(
    program: Callable[..., Any], way: Callable[..., Any], tmp_path: Path
) -> None:
    """The file is known by the expression for it, or for its path."""
    assert "GT210" in _codes(way, lambda x: program(x, tmp_path / "file"), POINT)


def test_the_fix_for_text_and_bytes_is_the_tensor_itself() -> None:
    """Without `float()`, `json.dumps` would refuse the tensor: that is no fix."""
    for name in ("json", "f-string", "save"):
        problems: list[Any] = []
        with gt.explain.configure(GT210="note"), gt.explain.listening(problems.append):
            by_grad(LOST[name], POINT)
        assert problems[0].fixes[0].startswith("use the tensor itself")


HELD: dict[Any, Any] = {}


def kept_elsewhere(x: Any) -> Any:
    HELD["text"] = str(x * np.sin(x))
    return x * float(HELD["text"])


def kept_as_bytes(x: Any) -> Any:
    HELD["bytes"] = (x * np.ones(3)).tobytes()
    return np.sum(x * np.frombuffer(HELD["bytes"]))


@pytest.mark.parametrize("program", [kept_elsewhere, kept_as_bytes])
def test_what_the_source_does_not_show_is_known_by_its_digits(program: Callable[[Any], Any]) -> None:
    """A computed value that comes back with all its digits is recognised."""
    assert "GT210" in _codes(by_grad, program, LONG)


def in_a_pickle(x: Any) -> Any:
    HELD["pickle"] = pickle.dumps({"x": [x]})
    return x * pickle.loads(HELD["pickle"])["x"][0] ** 2


@pytest.mark.parametrize("way", [by_grad, by_jvp, by_jacfwd, by_jit])
def test_a_pickle_of_what_is_watched_is_known_when_it_is_read(way: Callable[..., Any]) -> None:
    """The tensor that a pickle is read into knows where it left, whatever its number is."""
    assert "GT210" in _codes(way, in_a_pickle, POINT)


def test_a_pickle_that_is_not_read_is_no_loss() -> None:
    """Neither is one that is read after the gradient was taken."""
    assert _codes(by_grad, lambda x: x * len(pickle.dumps(x)), POINT) == []
    gt.grad(lambda x: x * HELD.setdefault(2, len(HELD.setdefault(1, pickle.dumps(x)))))(POINT)
    assert float(pickle.loads(HELD[1]) * 2.0) == 2.0 * POINT


def printing(x: Any) -> Any:
    print(x, f"{x * x:.3f}", repr(x))
    print(x * x, file=sys.stdout)
    return x * x * LONG


def logging_it(x: Any) -> Any:
    logging.getLogger("test").info("%s %s", x, x * x)
    message = f"{x} {x * x}"
    logging.getLogger("test").info(message)
    return x * x * LONG


def distance_from_the_start(x: Any) -> Any:
    HELD["text"] = f"{x}"
    return (x - LONG) ** 2 + x


def key_of_a_cache(x: Any) -> Any:
    HELD[x.tobytes()] = True
    return (x - LONG) ** 2 + x


def log_of_what_is_held_fixed(x: Any) -> Any:
    norm = x * np.sin(x)
    HELD["text"] = f"{norm}"
    return x / norm.item() + x * gt.stop_gradient(norm)


@pytest.mark.filterwarnings("ignore::gradtape.errors.JitWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "program", [printing, logging_it, distance_from_the_start, key_of_a_cache, log_of_what_is_held_fixed]
)
def test_what_is_only_shown_is_no_loss(program: Callable[[Any], Any], way: Callable[..., Any]) -> None:
    """Text and bytes that do not come back are not reported, whatever else has the same number."""
    assert _codes(way, program, LONG) == []


def test_a_log_file_is_no_loss(tmp_path: Path) -> None:
    """Neither is a file that is written and not read."""

    def program(x: Any) -> Any:
        with open(tmp_path / "log", "a") as file:
            file.write(f"{x} {x * x}")
        return x * x

    assert _codes(by_grad, program, LONG) == []


def test_text_that_is_used_is_of_the_call() -> None:
    """A compiled function computes with the text of each call, not with that of the first."""
    compiled = gt.jit(lambda x: x * float(f"{x:.17g}"))
    for point in (1.1, 1.2, 1.3):
        assert np.allclose(compiled(np.float64(point)), point**2)


def test_forward_mode_keeps_little_of_a_long_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a value has left, forward mode keeps a bounded part of the graph, and judges it as it goes."""
    monkeypatch.setattr("gradtape.core.forward.KEPT_BYTES", 1 << 14)
    alive: list[Any] = []

    def program(x: Any) -> Any:
        y = x
        for _ in range(50):
            if float(y) > 9.0:
                break
            y = np.sin(y) * 1.5
            alive.append(weakref.ref(y._node))
        return y * math.exp(x)

    def counted(x: Any) -> Any:
        found = program(x)
        assert sum(node() is not None for node in alive) < 20
        return found

    assert _codes(by_jvp, counted, POINT) == ["GT210"]


def test_a_copy_of_what_a_function_is_given_has_its_gradient() -> None:
    """`copy.deepcopy` stays on the tape."""
    assert np.allclose(gt.grad(lambda x: x * copy.deepcopy(x))(POINT), 2 * POINT)
