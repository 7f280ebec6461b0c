"""Reading and writing elements: every kind of index, elements named twice, and indices inside vmap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt

from .cases import assert_close, gradient_by_differences

X = np.array([1.0, 2.0, 3.0, 4.0])
MATRIX = np.arange(12.0).reshape(3, 4) + 1.0


def written(x: Any, index: Any, value: Any, how: str) -> Any:
    """What NumPy makes of `x[index] = value` and the like."""
    out = np.array(x)
    if how == "set":
        out[index] = value
    else:
        {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}[how].at(out, index, value)
    return out


INDICES: dict[str, Any] = {
    "integer": 1,
    "negative": -1,
    "slice": slice(0, 3, 2),
    "tuple": (slice(None), 2),
    "ellipsis": (..., 0),
    "new axis": (None, 1),
    "list": [0, 2],
    "twice": [0, 2, 0],
    "pairs": ([0, 1, 0], [3, 3, 3]),
    "apart": ([0, 1, 0], None, [3, 3, 3]),
    "mask": MATRIX % 2 == 0,
    "row mask": np.array([True, False, True]),
    "empty": [],
    "two-dimensional": np.array([[0, 1], [1, 2]]),
    "all": ...,
}


@pytest.mark.parametrize("how", ["set", "add", "multiply", "min", "max"])
@pytest.mark.parametrize("name", INDICES)
def test_writing_is_numpys(how: str, name: str) -> None:
    """`at(x)[index].how(value)` is what NumPy writes, and both gradients are the slopes of that."""
    index = INDICES[name]
    values = 5.5 + np.cos(np.arange(np.size(MATRIX[index]))).reshape(np.shape(MATRIX[index])) * 4.0
    write = lambda x, v: getattr(gt.at(x)[index], how)(v)
    reference = lambda x, v: written(x, index, v, how)
    np.testing.assert_array_equal(write(MATRIX, values), reference(MATRIX, values))
    weights = np.cos(np.arange(12.0)).reshape(3, 4)
    gradients = list(gt.vjp(write, MATRIX, values)[1](weights))
    assert [g.shape for g in gradients] == [(3, 4), values.shape]
    assert_close(gradients, gradient_by_differences(reference, [MATRIX, values], [weights], 1e-5), 1e-6)


@pytest.mark.parametrize("how", ["set", "add", "multiply", "min", "max"])
def test_writing_one_number_everywhere(how: str) -> None:
    """A number is stretched over the place, and a tensor of shape () collects the gradients of its copies."""
    write = lambda x, v: getattr(gt.at(x)[[0, 0, 2]], how)(v)
    reference = lambda x, v: written(x, [0, 0, 2], v, how)
    np.testing.assert_array_equal(write(X, 2.5), reference(X, 2.5))
    weights, value = np.array([1.0, 2.0, 3.0, 4.0]), np.array(2.5)
    gradients = list(gt.vjp(write, X, value)[1](weights))
    assert_close(gradients, gradient_by_differences(reference, [X, value], [weights], 1e-5), 1e-6)


def test_setting_twice_keeps_the_last() -> None:
    """Of two values for one element the last one stays, and has all of the gradient."""
    write = lambda v: gt.at(X)[[1, 1]].set(v)
    assert write(np.array([5.0, 6.0]))[1] == 6.0
    (slope,) = gt.vjp(write, np.array([5.0, 6.0]))[1](np.ones(4))
    np.testing.assert_array_equal(slope, [0.0, 1.0])


def test_written_elements_lose_their_gradient() -> None:
    """What was overwritten no longer matters."""
    (slope,) = gt.vjp(lambda x: gt.at(x)[1:3].set(0.0), X)[1](np.ones(4))
    np.testing.assert_array_equal(slope, [1.0, 0.0, 0.0, 1.0])


def test_the_original_is_left_alone() -> None:
    """`at` makes a new tensor; the array it starts from keeps its elements."""
    x = X.copy()
    gt.at(x)[0].set(9.0)
    np.testing.assert_array_equal(x, X)


def test_values_may_have_leading_axes_of_length_one() -> None:
    """As NumPy allows, x[0] = [[v]] writes a row; the gradient has the value's own shape."""
    (slope,) = gt.vjp(lambda v: gt.at(MATRIX)[0].set(v), np.ones((1, 1, 4)))[1](np.ones((3, 4)))
    np.testing.assert_array_equal(slope, np.ones((1, 1, 4)))


@pytest.mark.parametrize("value", [0.5, np.array([0.5]), gt.tensor([0.5])], ids=["number", "array", "tensor"])
def test_fractions_are_not_cut_short(value: Any) -> None:
    """Writing floating point numbers into integers is refused, since it would be flat in silence."""
    with pytest.raises(gt.DtypeError, match="astype"):
        gt.at(np.array([1, 2, 3]))[:1].set(value)


def test_integers_are_written_into_floats() -> None:
    """The other way round loses nothing."""
    np.testing.assert_array_equal(gt.at(X)[0].set(7), [7.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(gt.at(X)[[0]].add(np.array([7])), [8.0, 2.0, 3.0, 4.0])


# -- reading


def test_tensors_are_indices_too() -> None:
    """Integer and boolean tensors index like arrays."""
    x = gt.tensor(X)
    np.testing.assert_array_equal(x[gt.tensor([0, 0, 3])].numpy(), [1.0, 1.0, 4.0])
    np.testing.assert_array_equal(x[x > 2.0].numpy(), [3.0, 4.0])
    assert x[gt.tensor(2)].shape == ()


def test_an_index_array_is_copied() -> None:
    """Changing the index array afterwards does not change the gradient."""
    x, index = gt.tensor(X, requires_grad=True), np.array([0, 1])
    y = x[index].sum()
    index[:] = 3
    y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1.0, 1.0, 0.0, 0.0])


def test_an_index_out_of_range_names_the_shape() -> None:
    """The error is an IndexError and one of ours, and says what was indexed."""
    with pytest.raises(gt.IndexingError, match=r"\(4,\)"):
        gt.tensor(X)[7]


# -- indices that differ between the examples of a vmap

PLACES = np.array([[0, 2], [3, 3], [1, 0]])


def loop(f: Any, *batches: Any) -> Any:
    return np.stack([f(*[b[k] for b in batches]) for k in range(len(batches[0]))])


@pytest.mark.parametrize(
    "read",
    [
        lambda x, i: gt.getitem(x, i),
        lambda x, i: gt.take(x, i[0]),
        lambda x, i: gt.take(x, i)[..., None],
    ],
    ids=["vector", "scalar", "reshaped"],
)
@pytest.mark.parametrize("shared", [True, False])
def test_reading_inside_vmap(read: Any, shared: bool) -> None:
    """An index that belongs to the example picks from a shared array, or from the example's own."""
    batch = X if shared else np.stack([X, 2 * X, 3 * X])
    axes = (None if shared else 0, 0)
    mapped = gt.vmap(read, in_axes=axes)(batch, PLACES)
    rows = np.stack([X] * 3) if shared else batch
    np.testing.assert_array_equal(mapped, loop(read, rows, PLACES))


@pytest.mark.parametrize(
    "read",
    [
        lambda x, i: x[:, i],
        lambda x, i: x[i, :, i],
        lambda x, i: x[i[0], 1:, None, i],
        lambda x, i: x[..., i, np.array([[1], [0]])],
        lambda x, i: gt.take(x, i, axis=1),
        lambda x, i: gt.take(x, i + 3, axis=1, mode="wrap"),
    ],
    ids=["second axis", "apart", "mixed", "with a static one", "take", "take wrapping"],
)
def test_reading_from_matrices_inside_vmap(read: Any) -> None:
    """NumPy's rules for where the axes of index arrays go hold for each example."""
    batch, places = np.arange(81.0).reshape(3, 3, 3, 3), np.array([[0, 2], [1, 1], [2, 0]])
    np.testing.assert_array_equal(gt.vmap(read)(batch, places), loop(read, batch, places))


def test_gradient_of_reading_inside_vmap() -> None:
    """Elements that are picked twice in one example collect both gradients, in that example only."""
    batch = np.stack([X, 2 * X, 3 * X])
    gradients = gt.vmap(lambda x, i: gt.grad(lambda x: (x[i] ** 2).sum())(x))(batch, PLACES)
    np.testing.assert_array_equal(gradients, loop(lambda x, i: gt.grad(lambda x: (x[i] ** 2).sum())(x), batch, PLACES))
    through = gt.grad(lambda b: gt.vmap(lambda x, i: (x[i] ** 2).sum())(b, PLACES).sum())(batch)
    np.testing.assert_array_equal(through, gradients)


def test_gradient_of_a_shared_array_inside_vmap() -> None:
    """Each example's gradient of an array that all share is that example's own."""
    gradients = gt.vmap(lambda i: gt.grad(lambda x: (x[i] ** 2).sum())(X))(PLACES)
    np.testing.assert_array_equal(gradients, loop(lambda i: gt.grad(lambda x: (x[i] ** 2).sum())(X), PLACES))


@pytest.mark.parametrize("how", ["set", "add"])
def test_writing_inside_vmap(how: str) -> None:
    """An index that belongs to the example says where that example is written, and gradients follow."""
    batch, values = np.stack([X, 2 * X, 3 * X]), np.array([[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]])
    write = lambda x, i, v: getattr(gt.at(x)[i], how)(v)
    np.testing.assert_array_equal(gt.vmap(write)(batch, PLACES, values), loop(write, batch, PLACES, values))
    weights = np.arange(4.0)

    def gradient(x: Any, i: Any, v: Any) -> Any:
        return gt.grad(lambda x, v: (write(x, i, v) * weights).sum(), argnums=(0, 1))(x, v)

    mapped = gt.vmap(gradient)(batch, PLACES, values)
    for part in (0, 1):
        np.testing.assert_array_equal(
            mapped[part], loop(lambda *a, part=part: gradient(*a)[part], batch, PLACES, values)
        )


def test_sorting_inside_vmap() -> None:
    """take_along_axis with each example's own order, and its gradient, are those of a loop."""
    batch = np.random.default_rng(3).normal(size=(3, 4, 2))
    f = lambda x: (gt.sort(x, axis=0) * np.arange(8.0).reshape(4, 2)).sum()
    np.testing.assert_allclose(gt.vmap(gt.grad(f))(batch), loop(gt.grad(f), batch))


def test_a_mask_inside_vmap_is_refused() -> None:
    """A boolean index would give every example another shape; the error offers gt.where."""
    with pytest.raises(gt.IndexingError, match=r"gt\.where"):
        gt.vmap(lambda x: x[x > 1.0].sum())(np.stack([X, X]))


def test_multiplying_in_place_inside_vmap_is_refused() -> None:
    """Elements named twice cannot be seen there; the error shows how to write it."""
    with pytest.raises(gt.OperandError, match=r"set\(gt\.multiply"):
        gt.vmap(lambda x, i: gt.at(x)[i].multiply(2.0))(np.stack([X, X, X]), PLACES)
