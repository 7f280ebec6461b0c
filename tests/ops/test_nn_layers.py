"""Linear and bilinear maps, embeddings, dropout and attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt

from .differentiation import assert_differentiates

F = gt.nn.functional


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


# -- linear and bilinear


def test_linear_is_a_product_and_a_sum() -> None:
    """x W^T + b, for one example, for many, and with and without a bias; all three differentiate."""
    x, w, b = random(2, 3, 4), random(5, 4, seed=1), random(5, seed=2)
    np.testing.assert_allclose(F.linear(x, w, b), x @ w.T + b)
    np.testing.assert_allclose(F.linear(x[0, 0], w), w @ x[0, 0])
    np.testing.assert_allclose(F.linear(x, w[0], b[0]), x @ w[0] + b[0])
    assert_differentiates(F.linear, x[0], w, b)


def test_bilinear_is_the_double_sum() -> None:
    """The sum over both features, for each output; all four arguments differentiate."""
    x, y, w, b = random(3, 2), random(3, 4, seed=1), random(2, 2, 4, seed=2), random(2, seed=3)
    np.testing.assert_allclose(F.bilinear(x, y, w, b), np.einsum("ni,oij,nj->no", x, w, y) + b)
    np.testing.assert_allclose(F.bilinear(x[0], y[0], w), np.einsum("i,oij,j->o", x[0], w, y[0]))
    assert_differentiates(F.bilinear, x, y, w, b)


# -- embedding


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.lists(st.integers(1, 3), max_size=2), st.lists(st.integers(0, 3), max_size=2), st.data())
def test_embedding_takes_rows_and_adds_them_back(rows: int, width: Any, shape: Any, data: Any) -> None:
    """The value is weight[input], and the gradient adds up the rows of each place, as np.add.at does."""
    count = int(np.prod(shape))
    places = np.array(data.draw(st.lists(st.integers(0, rows - 1), min_size=count, max_size=count)), int).reshape(shape)
    table = random(rows, *width)
    value, pull_back = gt.vjp(lambda table: F.embedding(places, table), table)
    np.testing.assert_array_equal(value, table[places])
    g = random(*value.shape, seed=1)
    expected = np.zeros_like(table)
    np.add.at(expected, places, g)
    np.testing.assert_allclose(pull_back(g)[0], expected, rtol=1e-12, atol=1e-13)


def test_embedding_differentiates() -> None:
    """Both modes hold with repeated rows and with padding, and under vmap of tables."""
    places = np.array([[0, 2], [2, 2]])
    assert_differentiates(lambda table: F.embedding(places, table) ** 2, random(3, 2))
    mapped = gt.vmap(lambda places, table: F.embedding(places, table), (0, None))(places, random(3, 2))
    np.testing.assert_array_equal(mapped, random(3, 2)[places])


@pytest.mark.parametrize("padding_idx", [1, -2])
def test_the_padding_row_is_read_but_not_moved(padding_idx: int) -> None:
    """The row `padding_idx` has its value in the result, a gradient of 0, and a tangent of 0."""
    table, places = random(3, 2), np.array([1, 0, 1])
    f = lambda table: F.embedding(places, table, padding_idx=padding_idx)
    np.testing.assert_array_equal(f(table), table[places])
    np.testing.assert_array_equal(gt.grad(lambda table: f(table).sum())(table), [[1, 1], [0, 0], [0, 0]])
    np.testing.assert_array_equal(gt.jvp(f, (table,), (np.ones((3, 2)),))[1], [[0, 0], [1, 1], [0, 0]])


def test_one_hot_places_ones() -> None:
    """A 1 at the label along a new axis, anywhere, in any dtype, and inside vmap."""
    labels = np.array([[1, 0], [2, 2]])
    np.testing.assert_array_equal(F.one_hot(labels, 3), np.eye(3, dtype=int)[labels])
    np.testing.assert_array_equal(F.one_hot(labels, 3, axis=0), np.moveaxis(np.eye(3)[labels], -1, 0))
    assert F.one_hot(labels, 3, dtype="float32").dtype == np.float32
    np.testing.assert_array_equal(gt.vmap(lambda y: F.one_hot(y, 3))(labels), np.eye(3)[labels])


# -- dropout


def test_dropout_keeps_the_mean() -> None:
    """Each element is 0 or x / (1 - p); the gradient is the same mask."""
    x = np.full(4000, 3.0)
    value, pull_back = gt.vjp(lambda x: F.dropout(x, 0.25, rng=np.random.default_rng(0)), x)
    assert set(np.unique(value)) == {0.0, 4.0}
    assert (value == 0).mean() == pytest.approx(0.25, abs=0.03)
    np.testing.assert_array_equal(pull_back(np.ones(4000))[0], value / 3)


def test_dropout_draws_from_the_generator_that_is_given() -> None:
    """The same seed gives the same result, and going on with the generator another one."""
    x = np.ones(100)
    rng = np.random.default_rng(7)
    first, second = F.dropout(x, rng=rng), F.dropout(x, rng=rng)
    np.testing.assert_array_equal(first, F.dropout(x, rng=np.random.default_rng(7)))
    assert (first != second).any()


def test_dropout_leaves_everything_or_nothing() -> None:
    """With p = 0, or outside of training, the input comes back and no generator is asked for; with p = 1, zeros."""
    x = random(5)
    np.testing.assert_array_equal(F.dropout(x, 0.0), x)
    np.testing.assert_array_equal(F.dropout(x, training=False), x)
    np.testing.assert_array_equal(F.dropout(x, 1.0, rng=np.random.default_rng(0)), np.zeros(5))


@pytest.mark.parametrize(("f", "axes"), [(F.dropout1d, 1), (F.dropout2d, 2), (F.dropout3d, 3)])
def test_channels_are_dropped_as_a_whole(f: Any, axes: int) -> None:
    """All elements of a channel share their fate, with and without the axis of examples."""
    x = np.ones((6, 8, *[3] * axes), np.float32)
    out = f(x, rng=np.random.default_rng(0))
    assert out.dtype == np.float32
    flat = out.reshape(6, 8, -1)
    assert (flat == flat[..., :1]).all()
    assert set(np.unique(out)) == {0.0, 2.0}
    assert f(x[0], rng=np.random.default_rng(0)).shape == x[0].shape


# -- attention


def attention(q: Any, k: Any, v: Any, bias: Any = 0.0, scale: float | None = None) -> Any:
    """Attention query by query; zeros for one that sees nothing."""
    scores = q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale) + bias
    out = np.zeros((*scores.shape[:-1], v.shape[-1]))
    for place in np.ndindex(scores.shape[:-1]):
        row = scores[place]
        if np.isfinite(row).any():
            weights = np.exp(row - row.max())
            out[place] = weights / weights.sum() @ np.broadcast_to(v, (*scores.shape[:-2], *v.shape[-2:]))[place[:-1]]
    return out


Q, K, V = random(2, 3, 4), random(2, 5, 4, seed=1), random(2, 5, 2, seed=2)
MASK = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)


@pytest.mark.parametrize(
    ("arguments", "bias", "scale"),
    [
        ({}, 0.0, None),
        ({"scale": 0.3}, 0.0, 0.3),
        ({"is_causal": True}, np.where(np.tri(3, 5, dtype=bool), 0, -np.inf), None),
        ({"attn_mask": MASK}, np.where(MASK, 0, -np.inf), None),
        ({"attn_mask": random(3, 5, seed=4)}, random(3, 5, seed=4), None),
        ({"attn_mask": MASK[0], "is_causal": True}, np.where(MASK[0] & np.tri(3, 5, dtype=bool), 0, -np.inf), None),
    ],
    ids=["plain", "scale", "causal", "mask", "bias", "both"],
)
def test_attention_is_written_out(arguments: Any, bias: Any, scale: Any) -> None:
    """Values agree with attention query by query; both modes, the second order and a mapped batch hold."""
    f = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **arguments)
    np.testing.assert_allclose(f(Q, K, V), attention(Q, K, V, bias, scale), rtol=1e-12, atol=1e-14)
    assert_differentiates(f, Q, K, V)


def test_a_query_that_sees_nothing_gets_zeros() -> None:
    """A fully masked row gives zeros, not NaN, and neither it nor its keys get a gradient from it."""
    f = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=MASK)[:, 1]
    np.testing.assert_array_equal(f(Q, K, V), np.zeros((2, 2)))
    for gradient in gt.vjp(f, Q, K, V)[1](np.ones((2, 2))):
        np.testing.assert_array_equal(gradient, np.zeros_like(gradient))


def test_huge_scores_do_not_overflow() -> None:
    """Scores of 1e6 pick one key, with finite gradients."""
    x = np.eye(3) * 1e3
    value, pull_back = gt.vjp(lambda x: F.scaled_dot_product_attention(x, x, x), x)
    np.testing.assert_allclose(value, x)
    assert np.isfinite(pull_back(np.ones((3, 3)))[0]).all()


def test_attention_drops_weights() -> None:
    """With dropout_p a share of the weights is 0 and the others grow; the generator has to be given."""
    ones = np.ones((1, 50, 1))
    out = F.scaled_dot_product_attention(ones, ones, ones, dropout_p=0.5, rng=np.random.default_rng(0))
    assert 0.5 < out.mean() < 1.5
    assert len(np.unique(out.round(12))) > 3
    with pytest.raises(gt.OperandError, match="default_rng"):
        F.scaled_dot_product_attention(ones, ones, ones, dropout_p=0.5)


def test_heads_and_examples_broadcast() -> None:
    """Axes in front broadcast as in a matrix product, and a mask with them."""
    q, k, v = random(2, 3, 4, 5), random(3, 6, 5, seed=1), random(2, 1, 6, 2, seed=2)
    mask = random(2, 1, 1, 6, seed=3) > 0
    actual = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    expected = attention(q, k, np.broadcast_to(v, (2, 3, 6, 2)), np.where(mask, 0, -np.inf))
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_single_precision_stays() -> None:
    """Single precision stays through linear maps, embeddings and attention, with masks in double precision too."""
    q, k, v = Q.astype("f"), K.astype("f"), V.astype("f")
    calls = [
        (lambda q: F.linear(q, k[0], np.ones(5, "f")), q),
        (lambda q: F.bilinear(q, q, np.ones((2, 4, 4), "f")), q),
        (lambda k: F.embedding([1, 0], k, padding_idx=0), k),
        (lambda q: F.scaled_dot_product_attention(q, k, v, attn_mask=np.zeros((3, 5))), q),
    ]
    for f, x in calls:
        value, pull_back = gt.vjp(f, x)
        assert value.dtype == pull_back(value)[0].dtype == np.float32


REFUSED = {
    "linear": (lambda: F.linear(np.ones((2, 3)), np.ones((3, 5))), gt.ShapeError, "weight.T fits"),
    "linear bias": (lambda: F.linear(np.ones(3), np.ones((5, 3)), np.ones((5, 1))), gt.ShapeError, r"\(5,\)"),
    "bilinear": (lambda: F.bilinear(np.ones(2), np.ones(3), np.ones((1, 3, 2))), gt.ShapeError, r"weight \(1, 3, 2\)"),
    "bilinear bias": (
        lambda: F.bilinear(np.ones(2), np.ones(3), np.ones((1, 2, 3)), np.ones(2)),
        gt.ShapeError,
        r"bias has shape \(2,\)",
    ),
    "embedding": (lambda: F.embedding([0, 9, 3], np.ones((3, 2))), gt.IndexingError, r"input\[1\] is 9, and 2 of 3"),
    "embedding kind": (lambda: F.embedding([0.0], np.ones((3, 2))), gt.OperandError, "float64"),
    "embedding number": (lambda: F.embedding([0], 1.0), gt.ShapeError, "single number"),
    "padding": (lambda: F.embedding([0], np.ones((3, 2)), padding_idx=3), gt.OperandError, "-3 to 2"),
    "one hot": (lambda: F.one_hot([-1], 2), gt.IndexingError, r"labels\[0\] is -1"),
    "probability": (lambda: F.dropout(np.ones(2), 1.5), gt.OperandError, "p=1.5"),
    "generator": (lambda: F.dropout(np.ones(2), rng=0), gt.OperandError, "rng is a int"),
    "channels": (lambda: F.dropout2d(np.ones((2, 3))), gt.ShapeError, r"input has shape \(2, 3\)"),
    "features": (lambda: F.scaled_dot_product_attention(Q, K[..., :3], V), gt.ShapeError, "same number of features"),
    "keys": (lambda: F.scaled_dot_product_attention(Q, K, V[:, :4]), gt.ShapeError, "a value for each key"),
    "examples": (lambda: F.scaled_dot_product_attention(Q, K[[0, 0, 0]], V), gt.ShapeError, "do not broadcast"),
    "mask": (
        lambda: F.scaled_dot_product_attention(Q, K, V, np.ones((5, 3), bool)),
        gt.ShapeError,
        r"attn_mask .*\(5, 3\)",
    ),
    "mask of integers": (
        lambda: F.scaled_dot_product_attention(Q, K, V, np.ones((3, 5), int)),
        gt.OperandError,
        "astype.bool",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_what_was_given(case: str) -> None:
    """What does not fit is refused with what was given, what is accepted and a fix."""
    call, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words) as refusal:
        call()
    assert "fix" in str(refusal.value)
