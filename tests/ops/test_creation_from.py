"""Arrays built of lists, blocks, functions and ranges, edited, padded, and the functions that write into arrays."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt

from .differentiation import assert_differentiates, assert_values_are_numpys, in_the_plane

M = np.array([[0.7, -1.2, 2.4], [1.9, 0.3, -0.8]])
V = np.array([0.4, -1.1, 2.3, 0.9])
W = np.array([1.5, 0.2, -0.6, 3.1])


class TestNestedLists:
    def test_gradients_pass(self) -> None:
        """Tensors in nested lists are stacked, numbers among them are constants."""
        assert_differentiates(lambda x, y: gt.array([[x[0], 2.0], [y[1], x[0] * y[0]]]), V, W)
        assert_differentiates(lambda x, y: gt.asarray([x, y, V]), V, W)

    def test_like(self) -> None:
        """np.array makes a tensor when it is told what it is like."""
        assert_differentiates(lambda x, y: np.array([x, y, V], like=x), V, W)
        made = np.array([gt.tensor(1.0), 2.0], like=gt.tensor(0.0), dtype="float32", ndmin=2)
        assert (type(made).__name__, made.shape, made.dtype) == ("Tensor", (1, 2), np.float32)

    def test_copies(self) -> None:
        """`array` copies a tensor and `asarray` does not; both keep the tape."""
        x = gt.tensor(V, requires_grad=True)
        assert gt.asarray(x) is x
        assert gt.array(x) is not x
        assert gt.asarray(x, copy=True) is not x
        assert gt.array(x, copy=False) is x
        assert gt.array(x).requires_grad

    def test_plain_numbers(self) -> None:
        """Without a tensor in it a list becomes an untracked tensor."""
        assert isinstance(gt.array([[1, 2], [3, 4]]), gt.Tensor)
        assert gt.asarray([1, 2], dtype=float).dtype == np.float64

    def test_unlike_shapes(self) -> None:
        """Items of different shapes are refused, with both shapes."""
        with pytest.raises(gt.ShapeError, match=r"\(2,\) and \(3,\)|\(3,\) and \(2,\)"):
            gt.array([gt.ones(2), gt.ones(3)])


LIKE = {
    "zeros": lambda x: np.zeros((2, 3), like=x),
    "zeros of a dtype": lambda x: np.zeros(2, "float32", like=x),
    "ones": lambda x: np.ones((2, 3), like=x),
    "full": lambda x: np.full((2,), 7.0, like=x),
    "eye": lambda x: np.eye(3, 2, k=1, like=x),
    "identity": lambda x: np.identity(3, like=x),
    "tri": lambda x: np.tri(3, 2, like=x),
    "arange": lambda x: np.arange(1, 6, 2, like=x),
    "asarray": lambda x: np.asarray([1.0, 2.0], like=x),
    "asanyarray": lambda x: np.asanyarray([1.0, 2.0], like=x),
    "ascontiguousarray": lambda x: np.ascontiguousarray(V[::2], like=x),
    "asfortranarray": lambda x: np.asfortranarray(M, like=x),
    "require": lambda x: np.require([1, 2], dtype=float, like=x),
    "fromfunction": lambda x: np.fromfunction(lambda i, j: i + 2 * j, (2, 3), like=x),
    "fromiter": lambda x: np.fromiter([1.0, 2.0, 3.0], float, 2, like=x),
    "frombuffer": lambda x: np.frombuffer(b"\x01\x02", np.uint8, like=x),
    "fromstring": lambda x: np.fromstring("1 2", sep=" ", like=x),
    "loadtxt": lambda x: np.loadtxt(io.StringIO("1 2\n3 4"), like=x),
    "genfromtxt": lambda x: np.genfromtxt(io.StringIO("1 2\n3 4"), like=x),
}


@pytest.mark.parametrize("name", LIKE)
def test_like_makes_tensors(name: str) -> None:
    """`like=` a tensor, NumPy's functions that make arrays make tensors with the same numbers."""
    assert_values_are_numpys(LIKE[name], V)


def test_empty_like_a_tensor() -> None:
    """An array without contents has shape and dtype."""
    made = np.empty((2, 3), np.float32, like=gt.ones(1))
    assert (type(made).__name__, made.shape, made.dtype) == ("Tensor", (2, 3), np.float32)


class TestBuilding:
    @pytest.mark.parametrize("depth", [0, 1, 2, 3])
    def test_block(self, depth: int) -> None:
        """Blocks in lists of any depth, with numbers and vectors among them."""
        calls: list[Any] = [
            lambda xp, x, y: xp.block(x),
            lambda xp, x, y: xp.block([x, y, x]),
            lambda xp, x, y: xp.block([[x, y], [y, x]]),
            lambda xp, x, y: xp.block([[[x], [y]], [[y], [x]]]),
        ]
        assert_values_are_numpys(lambda x, y: calls[depth](np, x, y), V, W)
        assert_differentiates(lambda x, y: calls[depth](gt, x, y) * 1.0, V, W)

    def test_block_of_matrices_and_numbers(self) -> None:
        """Matrices, vectors and numbers share rows."""
        assert_values_are_numpys(lambda m, v: np.block([[m, m], [v[:3], v[1:]], [np.ones(6)]]), M, V)

    def test_block_refuses(self) -> None:
        """Tuples and lists that are not nested alike are refused."""
        with pytest.raises(gt.OperandError, match="tuple"):
            gt.block((gt.ones(1), gt.ones(1)))
        with pytest.raises(gt.ShapeError, match="nested"):
            gt.block([[gt.ones(1)], gt.ones(1)])

    def test_diagonal(self) -> None:
        """diagflat puts all elements on a diagonal."""
        for k in (-1, 0, 2):
            assert_values_are_numpys(lambda x, k=k: np.diagflat(x, k), M)
            assert_differentiates(lambda x, k=k: np.diagflat(x, k), M)

    def test_functions_of_the_place(self) -> None:
        """fromfunction and fromiter keep what their functions compute with."""
        assert_differentiates(lambda x: gt.fromfunction(lambda i, j: x[0] * i + x[1] * j * j, (2, 3)), V)
        assert_differentiates(lambda x: gt.fromiter(x[k] ** 2 for k in range(3)), V)
        assert gt.fromiter([]).shape == (0,)
        with pytest.raises(gt.ShapeError, match="count=5"):
            gt.fromiter([1.0, 2.0], count=5)

    @pytest.mark.parametrize("how", [{}, {"endpoint": False}, {"num": 1}, {"num": 0}, {"axis": -1}], ids=str)
    def test_ranges(self, how: Any) -> None:
        """geomspace and logspace in all directions; both ends have gradients."""
        low, high = np.array([1.0, 2.0, 30.0]), np.array([10.0, 100.0, 3.0])
        assert_values_are_numpys(lambda a, b: np.geomspace(a, b, **{"num": 5, **how}), low, high)
        assert_values_are_numpys(lambda a, b: np.logspace(a, b, **{"num": 5, **how}), V[:3], W[:3])
        if how.get("num", 5):
            assert_differentiates(lambda a, b: np.geomspace(a, b, **{"num": 5, **how}), low / 10, high / 10)
            assert_differentiates(lambda a, b: np.logspace(a, b, **{"num": 5, "base": 2.0, **how}), V[:3], W[:3])

    def test_negative_and_complex_ranges(self) -> None:
        """Both ends negative, complex ends, and the dtype that was asked for."""
        assert_values_are_numpys(lambda a, b: np.geomspace(a, b, 4), np.array(-1.0), np.array(-8.0))
        assert_values_are_numpys(lambda a, b: np.geomspace(a, b, 4), np.array(1.0 + 0j), np.array(0.0 + 8j))
        assert np.geomspace(gt.tensor(1.0), 8.0, 4, dtype="float32").dtype == np.float32
        assert np.logspace(gt.tensor(1.0, dtype="float32"), 2.0, 4).dtype == np.float32
        with pytest.raises(gt.ShapeError, match="start is 0"):
            gt.geomspace(gt.tensor(0.0), 1.0)


INSERTED: list[tuple[Any, ...]] = [
    (M, 1, 5.0, None),
    (M, [1, 1, 4], [5.0, 6.0, 7.0], None),
    (M, -1, [5.0, 6.0], 1),
    (M, [1], [[5.0], [6.0]], 1),
    (M, 1, [[5.0, 6.0], [7.0, 8.0]], 1),
    (M, [0, 2], [[5.0, 6.0], [7.0, 8.0]], 1),
    (M, [3, 0], [[5.0, 6.0], [7.0, 8.0]], 1),
    (M, slice(0, 2), 9.0, 1),
    (V, [2, 0], [5.0, 6.0], 0),
    (V, 4, [5.0, 6.0], 0),
    (V, np.array([True, False, True, False]), 7.0, 0),
    (V, np.array([True, True, True, True]), [5.0, 6.0, 7.0, 8.0], 0),
    (V, [], [], 0),
]


class TestEditing:
    @pytest.mark.parametrize(
        ("places", "axis"),
        [(1, None), (-1, 1), ([0, 2], 1), (slice(0, 2), 1), ([True, False], 0), ([], 0), (np.array([1, 1]), 1)],
        ids=str,
    )
    def test_delete(self, places: Any, axis: int | None) -> None:
        """Any way to name places."""
        assert_values_are_numpys(lambda x: np.delete(x, places, axis), M)
        assert_differentiates(lambda x: np.delete(x, places, axis), M)

    @pytest.mark.filterwarnings("ignore:in the future insert will treat boolean:FutureWarning")  # until NumPy 2.2
    @pytest.mark.parametrize(("into", "places", "values", "axis"), INSERTED)
    def test_insert(self, into: Any, places: Any, values: Any, axis: int | None) -> None:
        """What is there and what is put in have their gradients, in the order in which they were given."""
        values = np.asarray(values, float)
        assert_values_are_numpys(lambda x, y: np.insert(x, places, y, axis), into, values)
        assert_differentiates(lambda x, y: np.insert(x, places, y, axis), into, values)

    def test_places_that_are_not_there(self) -> None:
        """Places out of range and places that are no whole numbers are refused."""
        for call in (lambda p: gt.insert(gt.tensor(V), p, 1.0), lambda p: gt.delete(gt.tensor(V), p)):
            for places in (9, [0, 9], [0.5]):
                with pytest.raises(gt.IndexingError):
                    call(places)

    @pytest.mark.parametrize("shape", [(3,), (2, 5), (0,), 7, (2, 2)], ids=str)
    def test_resize(self, shape: Any) -> None:
        """Cut or repeated from the start."""
        assert_values_are_numpys(lambda x: np.resize(x, shape), V)
        assert_differentiates(lambda x: np.resize(x, shape), V)

    def test_resize_of_nothing_and_refusal(self) -> None:
        """Nothing is stretched with zeros; a negative length is refused."""
        assert_values_are_numpys(lambda x: np.resize(x, (2,)), np.zeros(0))
        with pytest.raises(gt.ShapeError, match="resize"):
            np.resize(gt.tensor(V), (-1, 2))

    @pytest.mark.parametrize(
        ("shape", "axis"), [(2, 1), ((2, 2), None), ((2, 2), (0, 1)), ((1, 2), (1, 1)), (3, -1)], ids=str
    )
    def test_windows(self, shape: Any, axis: Any) -> None:
        """Windows over some or all axes."""
        call = lambda x: np.lib.stride_tricks.sliding_window_view(x, shape, axis)
        assert_values_are_numpys(call, M)
        assert_differentiates(call, M)

    def test_windows_that_do_not_fit(self) -> None:
        """A window larger than the array is refused with the shape."""
        with pytest.raises(gt.ShapeError, match=r"\(4,\)"):
            gt.sliding_window_view(gt.tensor(V), 5)

    def test_trimming_of_matrices(self) -> None:
        """Zeros around a matrix are trimmed along all axes or some."""
        framed = np.pad(M, 2)
        inner = slice(2, -2)
        for axis, kept in ((None, framed[inner, inner]), (0, framed[inner]), (1, framed[:, inner]), ((0, 1), M)):
            np.testing.assert_array_equal(gt.trim_zeros(gt.tensor(framed), axis=axis).numpy(), kept)
        assert_values_are_numpys(np.trim_zeros, np.pad(V, 2))
        assert_values_are_numpys(lambda x: np.trim_zeros(x, "b"), np.zeros(3))


# -- padding


PADDINGS: list[tuple[Any, ...]] = [
    ("constant", {}),
    ("constant", {"constant_values": 3.0}),
    ("constant", {"constant_values": (1.0, 2.0)}),
    ("constant", {"constant_values": ((1.0, 2.0), (3.0, 4.0))}),
    ("edge", {}),
    ("empty", {}),
    ("linear_ramp", {}),
    ("linear_ramp", {"end_values": (5.0, -4.0)}),
    ("maximum", {}),
    ("maximum", {"stat_length": 2}),
    ("mean", {}),
    ("mean", {"stat_length": ((1, 2), (2, 1))}),
    ("median", {}),
    ("median", {"stat_length": (2, 9)}),
    ("minimum", {"stat_length": 1}),
    ("reflect", {}),
    ("reflect", {"reflect_type": "odd"}),
    ("symmetric", {}),
    ("symmetric", {"reflect_type": "odd"}),
    ("wrap", {}),
]
WIDTHS = [1, (2, 0), ((1, 2), (0, 3)), ((4, 5), (6, 7)), ((0, 0), (1, 1))]


class TestPadding:
    @pytest.mark.parametrize("width", WIDTHS, ids=str)
    @pytest.mark.parametrize(("mode", "how"), PADDINGS)
    def test_all_modes(self, mode: str, how: Any, width: Any) -> None:
        """Every mode of NumPy with every keyword, narrow and wider than the array."""
        if mode == "empty":
            assert np.pad(gt.tensor(M), width, mode).shape == np.pad(M, width, mode).shape
            return
        assert_values_are_numpys(lambda x: np.pad(x, width, mode, **how), M)
        assert_differentiates(lambda x: np.pad(x, width, mode, **how), M)

    @pytest.mark.parametrize("mode", ["linear_ramp", "mean", "median", "maximum", "reflect"])
    def test_integers(self, mode: str) -> None:
        """Integers stay integers, rounded as NumPy rounds them."""
        assert_values_are_numpys(lambda x: np.pad(x, 3, mode), np.array([[1, 4, 9], [2, 3, 7]]))

    def test_single_precision_and_complex(self) -> None:
        """float32 stays float32; complex numbers are padded like pairs."""
        for mode in ("constant", "linear_ramp", "mean", "reflect"):
            assert np.pad(gt.tensor(V, dtype="float32"), 1, mode).dtype == np.float32
            assert_values_are_numpys(lambda x, mode=mode: np.pad(x, 2, mode), in_the_plane(V))

    def test_values_have_gradients(self) -> None:
        """What the margin is made of can be a tensor."""
        assert_differentiates(lambda x, c: gt.pad(x, 2, constant_values=c[0]), M, V)
        assert_differentiates(lambda x, c: gt.pad(x, 1, "constant", constant_values=((c[0], c[1]), (c[2], 5.0))), M, V)
        assert_differentiates(lambda x, c: gt.pad(x, 2, "linear_ramp", end_values=(c[0], c[1])), M, V)

    def test_by_axis(self) -> None:
        """A dictionary names the axes, also where NumPy takes none; the others are not padded."""
        for named, pairs in (({-1: (1, 2)}, ((0, 0), (1, 2))), ({0: 2}, ((2, 2), (0, 0)))):
            for mode in ("constant", "edge", "wrap"):
                expected = np.pad(M, pairs, mode)
                np.testing.assert_array_equal(np.pad(gt.tensor(M), named, mode).numpy(), expected)
                np.testing.assert_array_equal(gt.pad(M, named, mode), expected)
            assert_differentiates(lambda x, named=named: gt.pad(x, named, "edge"), M)

    def test_function(self) -> None:
        """A function writes the margins of every vector."""

        def with_ends(vector: Any, width: Any, axis: int, keywords: Any) -> None:
            vector[: width[0]] = keywords.get("factor", 1.0) * vector[width[0]]
            vector[-width[1] :] = vector[width[0]] * vector[width[0] + 1] + axis

        for keywords in ({}, {"factor": 3.0}):
            assert_values_are_numpys(lambda x, keywords=keywords: np.pad(x, 2, with_ends, **keywords), M)
            assert_differentiates(lambda x, keywords=keywords: np.pad(x, 2, with_ends, **keywords), M)

    @pytest.mark.parametrize(
        ("arguments", "keywords"),
        [
            ((1, "average"), {}),
            ((1, "edge"), {"stat_length": 2}),
            ((1, "mean"), {"stat_length": 0}),
            ((1, "reflect"), {"reflect_type": "strange"}),
            ((-1,), {}),
            ((0.5,), {}),
            (([1, 2, 3],), {}),
        ],
        ids=str,
    )
    def test_refusals(self, arguments: Any, keywords: Any) -> None:
        """What cannot be done is refused, with a way out."""
        with pytest.raises(gt.GradTapeError, match="fix:"):
            gt.pad(gt.tensor(M), *arguments, **keywords)

    def test_empty_arrays(self) -> None:
        """Nothing can be padded with constants only."""
        assert_values_are_numpys(lambda x: np.pad(x, 1), np.zeros((0, 2)))
        with pytest.raises(gt.ShapeError, match="empty"):
            np.pad(gt.zeros((0, 2)), 1, "edge")

    @given(st.integers(1, 5), st.integers(0, 9), st.integers(0, 9), st.sampled_from(["reflect", "symmetric"]))
    @settings(max_examples=60, deadline=None)
    def test_odd_reflections(self, length: int, before: int, after: int, mode: str) -> None:
        """Odd reflections of any width are NumPy's."""
        x = np.cos(1.0 + np.arange(length))
        assert_values_are_numpys(lambda x: np.pad(x, (before, after), mode, reflect_type="odd"), x)


# -- functions that write


def into_copy(write: Any) -> Any:
    """A function that writes into a copy of its first argument."""

    def call(x: Any, *values: Any) -> Any:
        y = x * 1.0
        assert write(y, *values) is None
        return y

    return call


WRITES: dict[str, Any] = {
    "copyto": (lambda y, v: np.copyto(y, v[:3]), (M, V)),
    "copyto where": (lambda y, v: np.copyto(y, v[:3], where=M > 0), (M, V)),
    "put": (lambda y, v: np.put(y, [0, 4, -1], v[:3]), (M, V)),
    "put repeated": (lambda y, v: np.put(y, [0, 4, 0, 2], v[:2]), (M, V)),
    "put wrap": (lambda y, v: np.put(y, [7, -8], v[:2], mode="wrap"), (M, V)),
    "put clip": (lambda y, v: np.put(y, [70, -8], v[:2], mode="clip"), (M, V)),
    "put nothing": (lambda y, v: np.put(y, [], v), (M, V)),
    "putmask": (lambda y, v: np.putmask(y, M > 0, v[:2]), (M, V)),
    "putmask all": (lambda y, v: np.putmask(y, M > 0, v), (M, 2 * M)),
    "place": (lambda y, v: np.place(y, M > 0, v[:3]), (M, V)),
    "place nothing": (lambda y, v: np.place(y, M > 9, v[:3]), (M, V)),
    "put_along_axis": (lambda y, v: np.put_along_axis(y, np.array([[2], [0]]), v[:2, None], 1), (M, V)),
    "put_along_axis stretched": (lambda y, v: np.put_along_axis(y, np.array([[1, 0, 1]]), v[0], 0), (M, V)),
    "put_along_axis flat": (lambda y, v: np.put_along_axis(y, np.array([5, 0]), v[:2], None), (M, V)),
    "fill_diagonal": (lambda y, v: np.fill_diagonal(y, v[0]), (M, V)),
    "fill_diagonal vector": (lambda y, v: np.fill_diagonal(y, v), (M, V)),
    "fill_diagonal wrap": (lambda y, v: np.fill_diagonal(y, v, wrap=True), (np.arange(10.0).reshape(5, 2), V)),
    "fill_diagonal cube": (lambda y, v: np.fill_diagonal(y, v), (np.arange(8.0).reshape(2, 2, 2), V)),
}


class TestOverwriting:
    @pytest.mark.parametrize("name", WRITES)
    def test_in_place(self, name: str) -> None:
        """The tensor itself is changed, as NumPy changes an array; old and new have their gradients."""
        if name.startswith("fill_diagonal") and name != "fill_diagonal wrap":
            write, point = WRITES[name]
            array = point[0] * 1.0
            write(array, point[1])
            tensor = gt.tensor(point[0])
            write(tensor, gt.tensor(point[1]))
            np.testing.assert_array_equal(tensor.numpy(), array)
        else:
            assert_values_are_numpys(into_copy(WRITES[name][0]), *WRITES[name][1])
        assert_differentiates(into_copy_of_tensors(WRITES[name][0]), *WRITES[name][1])

    @pytest.mark.parametrize("name", ["copyto", "put", "putmask", "place", "put_along_axis", "put_along_axis flat"])
    def test_semantics_of_writes(self, name: str) -> None:
        """A leaf that gradients are asked for is not written, nor a plain array; views follow what is written."""
        write, (start, value) = WRITES[name]
        leaf = gt.tensor(start, requires_grad=True)
        with pytest.raises(gt.MutationError):
            write(leaf, gt.tensor(value))
        y = leaf * 1.0
        view = y[0]
        write(y, gt.tensor(value))
        np.testing.assert_array_equal(view.numpy(), y.numpy()[0])
        array = start * 1.0
        with pytest.raises(gt.DetachError):
            write(array, gt.tensor(value, requires_grad=True) * 1.0)
        np.testing.assert_array_equal(array, start)
        expected = start * 1.0
        write(expected, value)
        if name != "put_along_axis" and name != "put_along_axis flat":
            write(array, gt.tensor(value))
            np.testing.assert_array_equal(array, expected)

    def test_refusals(self) -> None:
        """Places that are not there, shapes that do not fit and casts that lose something are refused."""
        x = gt.tensor(M)
        for call, kind in {
            lambda: np.put(x, [6], 1.0): gt.IndexingError,
            lambda: np.put(x, [0], 1.0, mode="strange"): gt.OperandError,
            lambda: np.putmask(x, V > 0, 1.0): gt.ShapeError,
            lambda: np.place(x, M > 0, []): gt.ShapeError,
            lambda: np.put_along_axis(x, np.array([0]), 1.0, 1): gt.ShapeError,
            lambda: np.fill_diagonal(gt.tensor(V), 1.0): gt.ShapeError,
            lambda: np.fill_diagonal(gt.ones((2, 2, 3)), 1.0): gt.ShapeError,
            lambda: np.copyto(gt.zeros(2, int), gt.ones(2)): gt.OperandError,
        }.items():
            with pytest.raises(kind, match="fix:"):
                call()
        whole = gt.zeros(2, int)
        np.copyto(whole, gt.tensor([1.5, 2.5]), casting="unsafe")
        np.testing.assert_array_equal(whole.numpy(), [1, 2])


def into_copy_of_tensors(write: Any) -> Any:
    """As `into_copy`, of arrays too: the values are wrapped where nothing else is a tensor."""

    def call(x: Any, *values: Any) -> Any:
        y = x * 1.0 if isinstance(x, gt.Tensor) else gt.tensor(x)
        write(y, *values)
        return y if isinstance(x, gt.Tensor) else y.numpy()

    return call
