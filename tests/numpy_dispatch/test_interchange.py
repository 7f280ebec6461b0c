"""Tensors among other libraries: DLPack, einops, opt_einsum, SciPy's array API functions, notebooks."""

from __future__ import annotations

import ctypes
import html.parser
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import array_api_strict as strict
import einops
import numpy as np
import opt_einsum
import pytest

import gradtape as gt
from gradtape.bridges.probing import shapes_by_trial
from gradtape.bridges.program import ArrayProgram, BridgeCall
from gradtape.core.tensor import Tensor
from gradtape.numpy_dispatch import import_hook, interchange

ROOT = Path(__file__).parents[2]
DTYPES = ["bool", "int8", "int64", "uint16", "float32", "float64", "complex64", "complex128"]


class OldConsumer:
    """An array as a library sees it that speaks the first version of DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self.array.__dlpack_device__()
        return device


# -- DLPack


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_dlpack_goes_there_and_back(dtype: str, shape: tuple[int, ...]) -> None:
    """Numbers, shape and dtype survive the way to NumPy and back, in both versions of the protocol."""
    numbers = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    x = gt.tensor(numbers)
    for there in (np.from_dlpack(x), np.from_dlpack(OldConsumer(x))):
        np.testing.assert_array_equal(there, numbers)
        assert there.dtype == numbers.dtype
        back = gt.from_dlpack(there)
        assert isinstance(back, gt.Tensor)
        np.testing.assert_array_equal(back.numpy(), numbers)
    assert gt.from_dlpack(strict.asarray(numbers)).dtype == numbers.dtype


def test_what_leaves_is_a_copy() -> None:
    """A library that writes into the memory that it was given, as PyTorch does, does not change the tensor."""
    x = gt.tensor([1.0, 2.0])
    for taken in (np.from_dlpack(x), np.from_dlpack(x, copy=True)):
        assert not np.shares_memory(taken, x.numpy())
        memory = (ctypes.c_double * 2).from_address(taken.ctypes.data)  # NumPy before 2.3 marks both as read-only
        memory[0] = 9.0
        assert taken.tolist() == [9.0, 2.0]
        assert x.tolist() == [1.0, 2.0]


def test_without_a_copy_it_is_read_only() -> None:
    """`copy=False` shares the memory, and the consumer is told not to write."""
    x = gt.tensor([1.0, 2.0])
    view = np.from_dlpack(x, copy=False)
    assert np.shares_memory(view, x.numpy())
    assert not view.flags.writeable


class Before:
    """An array that speaks DLPack as it was before version 1, where memory could not be marked as read-only."""

    def __init__(self, x: gt.Tensor, **wanted: Any) -> None:
        self.x, self.wanted = x, wanted

    def __dlpack__(self, **_: Any) -> Any:
        return self.x.__dlpack__(**self.wanted)

    def __dlpack_device__(self) -> Any:
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("version", [{}, {"max_version": None}, {"max_version": (0, 8)}])
def test_an_older_version_shares_memory_where_it_is_asked_to(version: Any) -> None:
    """`copy=False` never copies, whatever the version of DLPack and the layout; without it there is a copy."""
    whole = gt.tensor(np.arange(6.0).reshape(2, 3))
    for x in (whole, whole.T, whole[:0], gt.tensor(2.5), np.broadcast_to(whole, (4, 2, 3))):
        shared = np.from_dlpack(Before(x, copy=False, **version))
        np.testing.assert_array_equal(shared, x.numpy())
        assert np.shares_memory(shared, x.numpy()) or not x.size
        assert not np.shares_memory(np.from_dlpack(Before(x, **version)), x.numpy())
    shared = np.from_dlpack(Before(gt.tensor([1.0, 2.0]), copy=False, **version))  # its tensor is gone
    assert shared.tolist() == [1.0, 2.0]


def test_what_comes_in_is_a_copy() -> None:
    """A tensor owns its memory: writing to the array that it came from does not change it."""
    mine = np.ones(2)
    x = gt.from_dlpack(mine)
    mine[0] = 9.0
    assert x.tolist() == [1.0, 1.0]
    with pytest.raises(BufferError, match="owns its memory"):
        gt.from_dlpack(mine, copy=False)
    assert np.shares_memory(gt.from_dlpack(x, copy=False).numpy(), x.numpy())
    assert not np.shares_memory(gt.from_dlpack(x, copy=True).numpy(), x.numpy())


def test_a_tracked_tensor_refuses_to_leave() -> None:
    """The error names the shape and the user's line, and offers `.detach()`; inside a transform too."""
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(gt.DetachError, match=r"shape \(2,\)") as caught:
        np.from_dlpack(x)
    assert caught.value.problem.spans[0].file.endswith("test_interchange.py")
    assert "x.detach()" in str(caught.value)
    with pytest.raises(gt.DetachError):
        gt.from_dlpack(x)
    for transform in (gt.grad, gt.vmap):
        with pytest.raises(gt.DetachError):
            transform(lambda y: gt.tensor(np.from_dlpack(y)).sum())(gt.tensor([1.0]))
    assert np.from_dlpack(x.detach()).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: gt.tensor(1.0).__dlpack__(stream=1), "stream=1"),
        (lambda: gt.tensor(1.0).__dlpack__(dl_device=(2, 0)), r"dl_device=\(2, 0\)"),
        (lambda: gt.from_dlpack(np.ones(2), device="cuda"), "device='cuda'"),
        (lambda: gt.from_dlpack([1.0]), "list does not speak DLPack"),
        (lambda: gt.from_dlpack(np.array(["text"])), "does not give its numbers away"),
    ],
)
def test_refusals_name_the_argument(call: Any, says: str) -> None:
    """A request that cannot be met is an error with what was given and what is accepted."""
    with pytest.raises(gt.OperandError, match=says) as caught:
        call()
    assert caught.value.problem.fixes


def test_the_device_is_the_cpu() -> None:
    """`__dlpack_device__` is DLPack's number for the CPU, and asking for that device is fine."""
    x = gt.tensor([1.0])
    assert x.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(x, device="cpu").tolist() == [1.0]
    assert x.__dlpack__(dl_device=(1, 0), max_version=(1, 0)) is not None


def test_a_missing_library_is_named() -> None:
    """A function that needs another library says which, and how to get it."""
    with pytest.raises(ImportError, match="python -m pip install no_such_library"):
        interchange.import_library("no_such_library", "to_nowhere")


# -- einops and opt_einsum


@pytest.fixture
def x() -> gt.Tensor:
    return gt.tensor(np.random.default_rng(0).normal(size=(2, 3, 4)))


@pytest.mark.parametrize(
    "change",
    [
        lambda x: einops.rearrange(x, "a b (c d) -> (a c) b d", d=2),
        lambda x: einops.reduce(x, "a b c -> a c", "mean"),
        lambda x: einops.reduce(x, "a b (c two) -> a b c", "max", two=2),
        lambda x: einops.reduce(x, "a b c -> b 1", "sum"),
        lambda x: einops.repeat(x, "a b c -> a (b two) c", two=2),
        lambda x: einops.repeat(x, "a b c -> a b c new", new=3),
        lambda x: einops.einsum(x, x, "a b c, a b d -> c d"),
        lambda x: einops.pack([x, x * 2.0], "a * c")[0],
        lambda x: einops.rearrange([x, x], "two a b c -> a b (c two)"),
        lambda x: opt_einsum.contract("abc,abd,de->ce", x, x, np.ones((4, 2))),
        lambda x: opt_einsum.contract("abc,acd->bd", x, einops.rearrange(x, "a b c -> a c b"), backend="gradtape"),
        lambda x: opt_einsum.contract_expression("abc,c->ab", (2, 3, 4), (4,))(x, gt.ones(4)),
    ],
)
def test_notations_of_others_are_differentiated(change: Any, x: gt.Tensor) -> None:
    """The value is the one that NumPy arrays give, and the gradient is that of finite differences."""

    def on_arrays(array: Any) -> Any:
        result = change(array)
        return result._concrete() if isinstance(result, Tensor) else result

    np.testing.assert_allclose(change(x).numpy(), on_arrays(x.numpy()), rtol=1e-12)
    assert gt.gradcheck(lambda t: gt.sum(gt.sin(change(t))), x)


def test_einops_takes_tensors_apart(x: gt.Tensor) -> None:
    """`unpack`, `parse_shape` and `asnumpy` know tensors; mapping by `vmap` works through einops."""
    packed, shapes = einops.pack([x, x], "a * c")
    assert [part.shape for part in einops.unpack(packed, shapes, "a * c")] == [(2, 3, 4), (2, 3, 4)]
    assert einops.parse_shape(x, "a _ c") == {"a": 2, "c": 4}
    assert isinstance(einops.asnumpy(x), np.ndarray)
    assert gt.vmap(lambda t: einops.rearrange(t, "b c -> c b"))(x).shape == (2, 4, 3)


def run(code: str, **environment: str) -> str:
    """What `code` prints in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("order", ["import einops, gradtape as gt", "import gradtape as gt, einops"])
def test_einops_knows_tensors_whichever_is_imported_first(order: str) -> None:
    """The order of the imports makes no difference, and einops is loaded by its own loader."""
    code = f"{order}; print(einops.rearrange(gt.ones((2, 3)), 'a b -> b a').shape, type(einops.__loader__).__name__)"
    assert run(code) == "(3, 2) SourceFileLoader"


def test_a_library_that_changed_too_much_keeps_working() -> None:
    """If our part cannot be imported, that is a warning, and the library is as it was."""
    with pytest.warns(ImportWarning, match=r"gradtape\.no_such_bridge"):
        import_hook.import_bridge("gradtape.no_such_bridge")


def test_scipys_array_api_functions_take_tensors() -> None:
    """SciPy's functions for the standard return tensors, with gradients; one that turns them into arrays is refused.

    log_softmax, gammaln and ndtr are either: SciPy 1.15 turns tensors into arrays there.
    """
    code = """
import numpy as np, gradtape as gt
from scipy import integrate, signal, special, stats
x = gt.tensor([0.3, 0.5, 1.2, 2.0])
functions = [special.logsumexp, stats.zscore, stats.skew, stats.gmean, stats.variation,
             integrate.trapezoid, lambda x: stats.pearsonr(x, x * x).statistic]
for function in (special.log_softmax, special.gammaln, special.ndtr):
    try:
        function(gt.tensor([1.0, 2.0], requires_grad=True))
        functions.append(function)
    except gt.DetachError as refusal:
        assert "its gradient would be lost" in str(refusal)
for function in functions:
    y = function(x)
    assert type(y) is gt.Tensor, function
    np.testing.assert_allclose(y.numpy(), function(x.numpy()), rtol=1e-6)
    assert gt.gradcheck(lambda t: (function(t) ** 2).sum(), x)
try:
    signal.detrend(gt.tensor([1.0, 2.0], requires_grad=True))
except gt.DetachError:
    print("refused")
"""
    assert run(code, SCIPY_ARRAY_API="1") == "refused"


# -- notebooks


class Text(html.parser.HTMLParser):
    """The text of a piece of HTML; it has to be well nested."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(source)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


def test_a_notebook_shows_what_a_tensor_is() -> None:
    """Shape, dtype, whether it is tracked, and the numbers."""
    shown = Text(gt.tensor([[1.5, 2.0], [3.0, 4.0]], requires_grad=True)._repr_html_()).cells
    assert "".join(shown[:2]) == "Tensor · shape (2, 2) · float64 · tracked, requires_grad"
    assert shown[2:] == ["1.5", "2.", "3.", "4."]
    assert "not tracked" in Text(gt.tensor(1)._repr_html_()).cells[1]
    with gt.GradientTape() as tape:
        y = tape.watch(gt.tensor([1.0])) * 2.0
        assert Text(y._repr_html_()).cells[1].endswith("· tracked")


def test_a_notebook_shows_a_part_of_much() -> None:
    """Long axes are cut, of more than two axes the first matrix is shown, and no elements are said to be none."""
    cells = Text(gt.arange(100)._repr_html_()).cells
    assert cells[2:] == ["0", "1", "2", "…", "97", "98", "99"]
    assert "at [0, 0]:" in Text(gt.ones((2, 3, 2, 2))._repr_html_()).cells
    assert Text(gt.ones((0, 3))._repr_html_()).cells[-1] == "no elements"
    assert len(gt.ones((1000, 1000))._repr_html_()) < 10_000


def test_a_notebook_escapes_names() -> None:
    """The name of a variable is text, not markup; a variable says whether tapes watch it."""
    shown = gt.Variable([1.0], name="<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in shown
    assert "tapes watch it" in shown
    assert "not trainable" in gt.Variable([1.0], trainable=False)._repr_html_()


def test_a_notebook_shows_a_batch_without_a_value() -> None:
    """Inside `vmap` a tensor has no single value, and says so."""
    seen = []
    gt.vmap(lambda x: seen.append(x._repr_html_()) or x)(gt.ones((2, 3)))
    assert "no single value" in seen[0]


# -- what the bridges stand on; the bridges themselves are in tests/bridges, with the libraries


def cubes(x: Any, scale: Any) -> tuple[Any, Any]:
    return gt.sum(x * x * x) * scale, gt.argmax(x)


def test_a_program_is_differentiated_any_number_of_times() -> None:
    """The derivative of a program is a program of its inputs and the cotangents, and so is the derivative of that."""
    program = ArrayProgram(lambda x, scale: list(cubes(x, scale)), "cubes")
    x, scale = np.array([1.0, 2.0]), np.array(2.0)
    value, position = program(x, scale)
    assert (value, position) == (18.0, 1)
    first = program.derivative(2, [0])
    (gradient,) = first(x, scale, np.array(1.0))
    np.testing.assert_allclose(gradient, 6 * x**2)
    second = first.derivative(3, [0, 1, 2])
    by_x, by_scale, by_seed = second(x, scale, np.array(1.0), np.ones(2))
    np.testing.assert_allclose(by_x, 12 * x)
    np.testing.assert_allclose([by_scale, by_seed], [np.sum(3 * x**2), np.sum(6 * x**2)])


def test_a_recorded_program_pulls_back_what_it_computed() -> None:
    """`recorded` gives all results, and the cotangents of the inputs that were wanted, as often as asked."""
    program = ArrayProgram(lambda x, scale: list(cubes(x, scale)), "cubes")
    results, pull = program.recorded([np.array([1.0, 2.0]), np.array(2.0)], [1])
    assert [result.tolist() for result in results] == [18.0, 1]
    for seed in (1.0, 2.0):
        assert pull([np.array(seed)])[0] == 9.0 * seed


def test_conjugated_cotangents() -> None:
    """Libraries whose cotangents are the conjugates of gradtape's get those."""
    program = ArrayProgram(lambda z: [z * z], "square")
    z, seed = np.array(1 + 2j), np.array(0.5 + 1j)
    (ours,), (theirs,) = program.derivative(1, [0])(z, seed), program.derivative(1, [0], conjugated=True)(z, seed)
    assert ours == np.conj(2 * z) * seed
    assert theirs == 2 * z * seed


def test_a_call_keeps_structures() -> None:
    """Nested arguments and results keep their structure; what is no array passes by."""

    def function(pair: Any, *, scale: float) -> Any:
        return {"sum": pair["a"] + pair["b"][0], "scale": scale * pair["a"], "name": "text", "none": None}

    arguments = ({"a": np.ones(2), "b": [np.zeros(2)]},), {"scale": 3.0}
    call = BridgeCall(function, (arguments[0], arguments[1]), lambda leaf: isinstance(leaf, np.ndarray))
    assert len(call.arrays) == 2
    found = call.results([result.tolist() for result in call.program(*call.arrays)])
    assert found == {"sum": [1.0, 1.0], "scale": [3.0, 3.0], "name": "text", "none": None}


def called(function: Any, *arrays: Any) -> BridgeCall:
    return BridgeCall(function, (arrays, {}), lambda leaf: isinstance(leaf, np.ndarray))


def test_shapes_are_found_by_trial() -> None:
    """The shapes and dtypes of results are those of a trial on other numbers of the same shapes and dtypes."""
    call = called(lambda x, i: (gt.outer(x, x), gt.take(x, i)), np.zeros(3, "float32"), np.array([0, 1]))
    assert shapes_by_trial(call, "bridge", None) == [((3, 3), np.dtype("float32")), ((2,), np.dtype("float32"))]


def test_declared_shapes_stand_in_for_a_trial_that_fails() -> None:
    """A function that refuses the trial's numbers needs declared results; the error says so and quotes it."""

    def picky(x: Any) -> Any:
        raise ValueError("other numbers, please")

    with pytest.raises(gt.OperandError, match=r"(?s)other numbers, please.*result="):
        shapes_by_trial(called(picky, np.ones(2)), "bridge", None)
    call = called(picky, np.ones(2))
    assert shapes_by_trial(call, "bridge", {"a": np.ones(3), "b": 1.0}) == [
        ((3,), np.dtype("float64")),
        ((), np.dtype("float64")),
    ]
    assert call.results(["first", "second"]) == {"a": "first", "b": "second"}


def test_declared_shapes_have_to_be_as_many_as_the_results() -> None:
    """One declared result too many is named, before anything is computed from it."""
    with pytest.raises(gt.OperandError, match="result has 2 arrays, and <lambda> returns 1"):
        shapes_by_trial(called(lambda x: x, np.ones(2)), "bridge", [1.0, 2.0])


def test_a_bridge_names_what_is_no_function() -> None:
    """`gt.bridges` has three names, and says so when asked for another."""
    with pytest.raises(AttributeError, match="as_jax, as_pytensor, as_torch"):
        gt.bridges.as_tensorflow  # noqa: B018
