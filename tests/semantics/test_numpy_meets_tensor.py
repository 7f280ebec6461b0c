"""NumPy functions on tensors, and the ways out of the tape."""

from __future__ import annotations

import collections
import copy
import dataclasses
import math
import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
import scipy.special

import gradtape as gt

Refused = Callable[..., AbstractContextManager[None]]


@dataclasses.dataclass
class Pair:
    """A record of two arrays."""

    first: Any
    others: Any


def leaf(value: Any) -> Any:
    """A tensor that requires a gradient."""
    return gt.tensor(value, requires_grad=True)


class TestFunctionsAreRecorded:
    """NumPy's own names work and are differentiated."""

    @pytest.mark.parametrize(
        ("function", "slopes"),
        [
            (lambda x: np.sin(x), np.cos),
            (lambda x: np.concatenate([x, 2 * x]), lambda x: np.full_like(x, 3.0)),
            (lambda x: np.array([1.0, 10.0]) * x, lambda x: np.array([1.0, 10.0])),
            (lambda x: np.array([1.0, 10.0]) - x, lambda x: np.full_like(x, -1.0)),
            (lambda x: np.array([1.0, 10.0]) / x, lambda x: -np.array([1.0, 10.0]) / x**2),
            (lambda x: np.ones((3, 2)) @ x, lambda x: np.full_like(x, 3.0)),
            (lambda x: np.float64(3.0) * x, lambda x: np.full_like(x, 3.0)),
            (lambda x: [1.0, 10.0] * x, lambda x: np.array([1.0, 10.0])),
            (lambda x: scipy.special.expit(x), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2),
            (lambda x: np.add.reduce(x), np.ones_like),
            (lambda x: np.add.accumulate(x), lambda x: np.array([2.0, 1.0])),
            (lambda x: np.multiply.outer(x, x), lambda x: np.full_like(x, 2 * x.sum())),
            (lambda x: np.mean(x), lambda x: np.full_like(x, 0.5)),
            (lambda x: np.stack([x, x]), lambda x: np.full_like(x, 2.0)),
            (lambda x: np.where(x > 1.5, x * x, 0.0), lambda x: np.array([0.0, 2 * x[1]])),
            (lambda x: np.linalg.norm(x), lambda x: x / np.hypot(*x)),
            (lambda x: np.array([2.0, 3.0]) ** x, lambda x: np.array([2.0, 3.0]) ** x * np.log([2.0, 3.0])),
        ],
    )
    def test_gradient(self, function: Callable[[Any], Any], slopes: Callable[[Any], Any]) -> None:
        """The result is a tensor, equal to NumPy's, and its gradient is exact."""
        value = np.array([1.0, 2.0])
        x = leaf(value)
        y = function(x)
        assert isinstance(y, gt.Tensor)
        np.testing.assert_allclose(y.numpy(), function(value))
        y.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), slopes(value))

    def test_solve(self) -> None:
        """`np.linalg.solve` is differentiated in both arguments."""
        matrix, right = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 5.0])
        a, b = leaf(matrix), leaf(right)
        np.linalg.solve(a, b).sum().backward()
        expected = np.linalg.solve(matrix.T, np.ones(2))
        np.testing.assert_allclose(b.grad.numpy(), expected)
        np.testing.assert_allclose(a.grad.numpy(), -np.outer(expected, np.linalg.solve(matrix, right)))

    def test_nested_sequences_of_tensors(self) -> None:
        """`gt.stack` joins what `np.array` cannot."""
        x, y = leaf(1.0), leaf(2.0)
        gt.stack([x, y, x * y]).sum().backward()
        assert float(x.grad) == 3.0
        assert float(y.grad) == 2.0

    def test_missing_function(self, refused: Refused) -> None:
        """A function that gradtape lacks is refused at the call, with the way around."""
        x = gt.tensor([1, 2], dtype=np.uint8)
        with refused(gt.UnsupportedError, "np.packbits", ".numpy()"):
            np.packbits(x)  # here

    def test_missing_ufunc_names_no_stranger(self, refused: Refused) -> None:
        """Of the functions that are there, one that only looks a little alike is not offered."""
        x = leaf([1.0, 2.0])
        with refused(gt.UnsupportedError, "np.isnat", "gt.custom_vjp"):
            np.isnat(x)  # here
        with pytest.raises(gt.UnsupportedError) as caught:
            np.isnat(x)
        assert "nearest" not in str(caught.value)

    def test_missing_method_of_a_ufunc(self, refused: Refused) -> None:
        """A method that the ufunc does not have for tensors is refused as well."""
        x = gt.tensor([1.0, 2.0])
        with refused(gt.UnsupportedError, "np.isnat.at"):
            np.isnat.at(x, [0])  # here


class TestWaysOut:
    """Always allowed, because people log and branch."""

    def test_numbers(self) -> None:
        """float, int, bool, complex, item, tolist, numpy: on tracked tensors too."""
        x = leaf(2.5)
        assert float(x) == 2.5
        assert int(x) == 2
        assert bool(x) is True
        assert complex(x) == 2.5
        assert x.item() == 2.5
        assert x.tolist() == 2.5
        assert x.numpy() == 2.5
        assert math.floor(x) == 2
        (x * x).backward()
        assert float(x.grad) == 5.0

    def test_branching(self) -> None:
        """A branch on a value works inside a tape."""
        with gt.GradientTape() as tape:
            x = tape.watch(2.0)
            y = x * 3.0 if x > 1.0 else x * 5.0
        assert float(tape.gradient(y, x)) == 3.0

    def test_index(self) -> None:
        """An integer tensor is an index, and counts a range."""
        n = gt.tensor(2)
        assert [10, 20, 30][n] == 30
        assert list(range(n)) == [0, 1]

    def test_one_element_of_any_rank(self) -> None:
        """A one-element tensor is a number whatever its rank."""
        x = gt.tensor([[2.5]])
        assert float(x) == 2.5
        assert x.item() == 2.5

    def test_several_elements_are_refused(self, refused: Refused) -> None:
        """`float(x)` of several elements names the shape."""
        x = leaf([1.0, 2.0])
        with refused(gt.ShapeError, "float()", "(2,)", ".sum()"):
            float(x)  # here

    def test_truth_of_several_elements_is_refused(self, refused: Refused) -> None:
        """`if x > 0` of several elements offers any, all and where."""
        x = leaf([1.0, 2.0])
        with refused(gt.ShapeError, "(2,)", ".any()", ".all()", "gt.where"):
            bool(x > 0)  # here

    def test_untracked_tensors_are_arrays_to_numpy(self) -> None:
        """A tensor that nobody tracks turns into an array without ado."""
        x = gt.tensor([1.0, 2.0])
        np.testing.assert_array_equal(np.asarray(x), [1.0, 2.0])
        assert np.asarray(x, dtype=np.float32).dtype == np.float32
        array = np.zeros(4)
        array[1:3] = x
        np.testing.assert_array_equal(array, [0.0, 1.0, 2.0, 0.0])

    def test_after_the_tape_closed(self) -> None:
        """What a closed tape recorded is not tracked any more."""
        v = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = v * v
        np.testing.assert_array_equal(np.asarray(y), [1.0, 4.0])
        np.testing.assert_array_equal(tape.gradient(y, v).numpy(), [2.0, 4.0])


class TestSilentLossIsRefused:
    """Where NumPy would drop the gradient without a word."""

    def test_asarray(self, refused: Refused) -> None:
        """`np.asarray(x)` of a tracked tensor."""
        x = leaf([1.0, 2.0])
        with refused(gt.DetachError, "(2,)", ".numpy()", "gt.stop_gradient"):
            np.asarray(x)  # here

    def test_array_of_tensors(self, refused: Refused) -> None:
        """`np.array([x, y])` of tracked tensors."""
        x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        with refused(gt.DetachError, "(2,)", "gt.stack([x, y])"):
            np.array([x, y])  # here

    def test_array_of_scalars(self) -> None:
        """`np.array([a, b])` of tracked scalars is refused as well."""
        a, b = leaf(1.0), leaf(2.0)
        with pytest.raises(gt.DetachError, match=r"gt\.stack"):
            np.array([a, b])

    def test_slice_assignment(self, refused: Refused) -> None:
        """`array[2:5] = x` of a tracked tensor."""
        x, array = leaf([1.0, 2.0, 3.0]), np.zeros(6)
        with refused(gt.DetachError, "(3,)", "gt.at(array)[i].set(x)"):
            array[2:5] = x  # here
        np.testing.assert_array_equal(array, np.zeros(6))

    def test_augmented_assignment(self, refused: Refused) -> None:
        """`array += x` of a tracked tensor."""
        x, array = leaf([1.0, 2.0]), np.zeros(2)
        with refused(gt.DetachError, "(2,)", "array = array + x"):
            array += x  # here
        np.testing.assert_array_equal(array, np.zeros(2))

    def test_on_a_tape(self) -> None:
        """The same inside a tape's block, for watched tensors and variables."""
        v = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            x = tape.watch(np.ones(2))
            for tracked in (x, v, x * v):
                with pytest.raises(gt.DetachError):
                    np.asarray(tracked)
            y = (x * v).sum()
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [1.0, 2.0])

    def test_element_assignment_is_a_cut(self, line: Callable[..., str]) -> None:
        """`array[0] = x` takes the number out of a tensor: allowed, warned of when it is back, and found by `why`."""
        v, w, array = gt.Variable(3.0), gt.Variable([1.0, 2.0]), np.zeros(2)
        with gt.GradientTape(persistent=True) as tape:
            array[0] = v  # here
            y = (w * array).sum()
        with gt.expect("GT210"):
            assert tape.gradient(y, v, unconnected_gradients="none") is None
        assert "an element of a NumPy array" in tape.why(y, v)
        assert line() in tape.why(y, v)


class TestPythonProtocols:
    """Length, iteration, formatting, comparison, hashing, copies, files."""

    def test_len_and_iteration(self) -> None:
        """The first axis is the one that is counted and iterated over, with gradients."""
        x = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        assert len(x) == 3
        total = sum(row[0] * factor for factor, row in enumerate(x, 1))
        total.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
        first, second = gt.tensor([7.0, 8.0])
        assert (float(first), float(second)) == (7.0, 8.0)

    def test_scalars_have_no_length(self, refused: Refused) -> None:
        """`len` and iteration of shape () are refused as TypeErrors, like NumPy's."""
        x = leaf(1.0)
        with refused(gt.OperandError, "()"):
            len(x)  # here
        with pytest.raises(TypeError, match=r"shape \(\)"):
            iter(x)

    def test_membership(self) -> None:
        """`in` compares elements."""
        x = leaf([1.0, 2.0])
        assert 2.0 in x
        assert 3.0 not in x

    def test_formatting(self) -> None:
        """Format specifications work on one element; str and repr on all."""
        x = leaf(2.0 / 3.0)
        assert f"{x:.3f}" == "0.667"
        assert f"{x * 100:6.1f}|" == "  66.7|"
        assert f"{x:e}" == f"{2 / 3:e}"
        assert f"{gt.tensor([1.0, 2.0])}" == "[1. 2.]"
        assert repr(leaf([1.0, 2.0])) == "Tensor([1., 2.], requires_grad=True)"
        assert repr(gt.tensor([1.0], dtype=np.float32)) == "Tensor([1.], dtype=float32)"
        assert repr(gt.Variable([1.0], name="w")) == "Variable([1.], name='w')"
        with pytest.raises(gt.ShapeError, match=r"\(2,\)"):
            _ = f"{gt.tensor([1.0, 2.0]):.3f}"

    def test_printing_large_tensors_is_short(self) -> None:
        """A tensor of a million elements prints a few."""
        assert len(repr(gt.zeros(1_000_000))) < 200

    def test_comparison(self) -> None:
        """Comparisons are elementwise tensors of bool without a gradient."""
        x = leaf([1.0, 2.0, 3.0])
        for result, expected in [
            (x < 2.0, [True, False, False]),
            (x <= 2.0, [True, True, False]),
            (x > 2.0, [False, False, True]),
            (x >= np.array([2.0, 2.0, 2.0]), [False, True, True]),
            (x == 2.0, [False, True, False]),
            (x != 2.0, [True, False, True]),
            (np.float64(2.0) < x, [False, False, True]),
            (np.equal(np.ones(3), x), [True, False, False]),
        ]:
            assert isinstance(result, gt.Tensor)
            assert result.dtype == np.bool_
            assert not result.requires_grad
            assert result.tolist() == expected

    def test_comparison_with_none(self) -> None:
        """`x == None` is an answer, not an error; `is` is unaffected."""
        x = leaf([1.0, 2.0])
        assert (x == None) is False  # noqa: E711
        assert (x != None) is True  # noqa: E711

    def test_hashing_by_identity(self) -> None:
        """Tensors are keys by identity: equal values are different keys."""
        x, y = gt.tensor([1.0]), gt.tensor([1.0])
        table = {x: "x", y: "y"}
        assert table[x] == "x"
        assert table[y] == "y"
        assert len({x, y, x}) == 2

    def test_hash_survives_assignment(self) -> None:
        """A variable stays the same key when its value changes."""
        v = gt.Variable(1.0)
        table = {v: "v"}
        v.assign(2.0)
        assert table[v] == "v"

    @pytest.mark.parametrize("make", [copy.copy, lambda x: x.copy(), lambda x: +x, np.copy])
    def test_copy(self, make: Callable[[Any], Any]) -> None:
        """A shallow copy is another tensor, on the graph."""
        x = leaf([1.0, 2.0])
        y = make(x)
        assert y is not x
        (y * y).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])

    def test_deepcopy(self) -> None:
        """A deep copy of a leaf is a leaf of its own."""
        x = leaf([1.0, 2.0])
        y = copy.deepcopy(x)
        assert y.requires_grad
        assert y.is_leaf
        (y * y).sum().backward()
        assert x.grad is None
        np.testing.assert_array_equal(y.grad.numpy(), [2.0, 4.0])

    def test_deepcopy_of_a_model(self) -> None:
        """Variables in structures are copied with name and trainability; a shared one is shared in the copy."""
        v = gt.Variable([1.0, 2.0], name="w", trainable=False)
        model = copy.deepcopy({"a": v, "b": [v]})
        assert model["a"] is model["b"][0]
        assert model["a"] is not v
        assert isinstance(model["a"], gt.Variable)
        assert (model["a"].name, model["a"].trainable) == ("w", False)
        model["a"].assign([5.0, 6.0])
        np.testing.assert_array_equal(v.numpy(), [1.0, 2.0])

    def test_deepcopy_of_an_intermediate(self) -> None:
        """A deep copy of a tracked intermediate is another tensor, on the graph."""
        x = leaf([1.0, 2.0])
        y = x * 2.0
        state = copy.deepcopy({"y": y, "list": [y]})
        assert state["y"] is state["list"][0]
        y *= 3.0
        (state["y"] ** 2).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [8.0, 16.0])

    def test_deepcopy_of_an_argument(self) -> None:
        """Inside a function that is differentiated, compiled or mapped, deep copies of its arguments keep gradients."""

        def function(x: Any) -> Any:
            y = copy.deepcopy(x)
            y[0] *= 2.0
            return np.sum(x * y)

        x = np.array([1.0, 2.0])
        for gradient in (
            gt.grad(function),
            gt.jit(gt.grad(function)),
            lambda x: gt.vmap(gt.grad(function))(x[None])[0],
        ):
            np.testing.assert_array_equal(gradient(x), [4.0, 4.0])
        compiled = gt.jit(function)
        assert (compiled(x), compiled(2 * x), compiled.stats.traces) == (6.0, 24.0, 1)

    def test_dataclasses_as_dictionaries(self) -> None:
        """`dataclasses.asdict`, which copies deeply, keeps gradients."""

        def function(x: Any) -> Any:
            fields = dataclasses.asdict(Pair(x[0] * 2.0, x[1:]))
            return fields["first"] * np.sum(fields["others"])

        np.testing.assert_array_equal(gt.grad(function)(np.array([1.0, 2.0, 3.0])), [10.0, 2.0, 2.0])

    @pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
    def test_pickling(self, protocol: int) -> None:
        """Tensors and variables come back with value, dtype and flags."""
        x = gt.tensor([1.0, 2.0], dtype=np.float32, requires_grad=True)
        v = gt.Variable([[3.0]], name="w", trainable=False)
        x2, v2 = pickle.loads(pickle.dumps((x, v), protocol))
        assert type(x2) is gt.Tensor
        assert (x2.dtype, x2.requires_grad, x2.tolist()) == (np.float32, True, [1.0, 2.0])
        assert type(v2) is gt.Variable
        assert (v2.name, v2.trainable, v2.tolist()) == ("w", False, [[3.0]])
        (x2 * x2).sum().backward()
        np.testing.assert_array_equal(x2.grad.numpy(), [2.0, 4.0])

    def test_unpickled_tensor_is_writable_memory_of_its_own(self) -> None:
        """What comes back can be updated like any tensor."""
        v = pickle.loads(pickle.dumps(gt.Variable([1.0, 2.0])))
        v.assign_add([1.0, 1.0])
        assert v.tolist() == [2.0, 3.0]

    def test_pickling_an_intermediate(self, refused: Refused) -> None:
        """Pickling a tracked intermediate would lose its gradient."""
        y = leaf([1.0, 2.0]) * 2.0
        with refused(gt.DetachError, "pickle", "(2,)"):
            pickle.dumps(y)  # here


class Foreign:
    """A type of another library, with arithmetic of its own."""

    def __radd__(self, other: Any) -> Any:
        return ("radd", other)

    def __rmul__(self, other: Any) -> Any:
        return ("rmul", other)

    def __rmatmul__(self, other: Any) -> Any:
        return ("rmatmul", other)

    def __gt__(self, other: Any) -> Any:
        return ("gt", other)


class ForeignArray:
    """An array type of another library that answers NumPy's protocols."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return (ufunc.__name__, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return (function.__name__, args)


class TestForeignTypes:
    """Types that gradtape does not know get their chance, with the tensor unwrapped."""

    def test_operators(self) -> None:
        """`x + foreign` becomes `foreign.__radd__(x)`, which receives the tensor itself."""
        x, foreign = leaf([1.0, 2.0]), Foreign()
        for (name, received), expected in [
            (x + foreign, "radd"),
            (x * foreign, "rmul"),
            (x @ foreign, "rmatmul"),
            (x < foreign, "gt"),
        ]:
            assert name == expected
            assert received is x

    def test_not_implemented(self) -> None:
        """The operator methods return NotImplemented, and Python raises where nobody answers."""
        x = leaf([1.0, 2.0])
        assert x.__add__(object()) is NotImplemented
        assert x.__radd__(object()) is NotImplemented
        assert x.__lt__("text") is NotImplemented
        with pytest.raises(TypeError, match="unsupported operand"):
            x + object()
        with pytest.raises(TypeError, match="unsupported operand"):
            x + "text"
        with pytest.raises(TypeError):
            x += object()

    def test_ufuncs(self) -> None:
        """A ufunc of a tensor and a foreign array is the foreign array's business."""
        x, foreign = leaf([1.0, 2.0]), ForeignArray()
        name, inputs = np.add(x, foreign)
        assert name == "add"
        assert inputs[0] is x

    def test_functions(self) -> None:
        """So is a NumPy function."""
        x, foreign = leaf([1.0, 2.0]), ForeignArray()
        name, (arguments,) = np.concatenate([x, foreign])
        assert name == "concatenate"
        assert arguments[0] is x

    def test_subclasses_are_welcome(self) -> None:
        """A subclass of ndarray is an array."""

        class Labelled(np.ndarray[Any, Any]):
            pass

        x = leaf([1.0, 2.0])
        y = np.array([3.0, 4.0]).view(Labelled) * x
        assert isinstance(y, gt.Tensor)
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0, 4.0])


def count_by_value(x: Any) -> Any:
    counts = collections.Counter(gt.numpy.round(x))
    return x * len(counts) * max(counts.values())


def group_by_value(x: Any) -> Any:
    groups = collections.defaultdict(list)
    for value in x:
        groups[gt.numpy.floor(value)].append(value * value)
    return gt.numpy.array([sum(group) * index for index, group in enumerate(groups.values())])


def look_up_by_value(x: Any) -> Any:
    known, best = {1.0: 10.0, 2.0: 20.0}, {index: index * 2.0 for index in range(6)}
    found = [value * known.get(gt.numpy.round(value), 1.0) for value in x]
    return gt.numpy.array(found) * best[gt.numpy.argmax(x)] * (gt.numpy.sign(x[0]) in {1.0})


@pytest.mark.parametrize("compile", [lambda f: f, gt.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("function", [count_by_value, group_by_value, look_up_by_value])
def test_numbers_are_found_by_their_value(function: Callable[[Any], Any], compile: Callable[[Any], Any]) -> None:
    """Sets, dictionaries and counters take elements and sums for equal where NumPy's numbers are."""
    call = compile(gt.value_and_grad(lambda x: gt.numpy.sum(function(x) * (x[0] + 2.0))))
    for x in (np.array([1.2, 2.1, 1.1, 3.3, 2.2, 1.4]), np.array([2.2, 0.9, 2.6, 1.1, 5.2, 4.9])):
        value = lambda x: np.sum(np.asarray(function(x)) * (x[0] + 2.0))
        found, gradient = call(x)
        np.testing.assert_allclose(found, value(x))
        slopes = [(value(x + step) - value(x - step)) / 2e-6 for step in 1e-6 * np.eye(6)]
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6)


def test_arrays_without_axes_are_objects() -> None:
    """Tensors of no axes that the user makes are found as themselves: two parameters with one value are two."""
    first, second = gt.tensor(1.0, requires_grad=True), gt.tensor(1.0, requires_grad=True)
    assert len({first: 0, second: 1}) == 2
