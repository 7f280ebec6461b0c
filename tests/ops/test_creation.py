"""New tensors, copies, and questions about shapes and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (gt.zeros((2, 3)), np.zeros((2, 3))),
        (gt.zeros(2, dtype="float32"), np.zeros(2, "float32")),
        (gt.ones((2, 0)), np.ones((2, 0))),
        (gt.full((2, 2), 7.0), np.full((2, 2), 7.0)),
        (gt.full(3, 7, dtype="float32"), np.full(3, 7, "float32")),
        (gt.eye(2, 3, 1), np.eye(2, 3, 1)),
        (gt.arange(1.0, 4.0, 0.5), np.arange(1.0, 4.0, 0.5)),
        (gt.arange(3), np.arange(3)),
        (gt.linspace(0.0, 1.0, 5), np.linspace(0.0, 1.0, 5)),
        (gt.linspace(0.0, 1.0, 5, endpoint=False), np.linspace(0.0, 1.0, 5, endpoint=False)),
        (gt.zeros_like(np.ones(2, "float32")), np.zeros(2, "float32")),
        (gt.ones_like(np.ones(2), dtype=int, shape=(3,)), np.ones(3, int)),
        (gt.full_like(np.ones(2), 7), np.full(2, 7.0)),
    ],
)
def test_new_tensors_are_numpys(made: Any, expected: Any) -> None:
    """Functions that make tensors give the numbers, shape and dtype of the NumPy function of the same name."""
    assert isinstance(made, gt.Tensor)
    assert made.dtype == expected.dtype
    np.testing.assert_allclose(made.numpy(), expected)


@pytest.mark.parametrize("function", [np.zeros_like, np.ones_like, np.empty_like])
def test_likes_of_tensors_have_their_shape(function: Any) -> None:
    """np.zeros_like and its kin of a tensor are tensors of its shape and dtype, on no tape."""
    x = gt.tensor(np.ones((2, 3), "float32"), requires_grad=True)
    made = function(x)
    assert (made.shape, made.dtype, made.requires_grad) == ((2, 3), np.float32, False)


def test_full_collects_the_gradient_of_its_copies() -> None:
    """A value that fills a shape has the sum of the gradients of its copies."""
    assert gt.grad(lambda v: gt.full((2, 3), v).sum())(2.0) == 6.0
    assert gt.grad(lambda v: gt.full_like(np.ones(4), v).sum())(1.0) == 4.0


def test_linspace_moves_with_its_ends() -> None:
    """The points between move with both ends, each by its share; with retstep the step does too."""
    start, stop = gt.jacobian(lambda a, b: gt.linspace(a, b, 3), argnums=(0, 1))(0.0, 1.0)
    np.testing.assert_allclose(start, [1.0, 0.5, 0.0])
    np.testing.assert_allclose(stop, [0.0, 0.5, 1.0])
    assert gt.grad(lambda b: np.linspace(b, 1.0, 5, retstep=True)[1])(0.0) == -0.25


def test_linspace_of_arrays() -> None:
    """Ends can be arrays; the new axis goes where it is asked for, and float32 stays."""
    ends = np.array([1.0, 2.0], "float32"), np.array([3.0, 6.0], "float32")
    made = np.linspace(*map(gt.tensor, ends), 4, axis=1)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made.numpy(), np.linspace(*ends, 4, axis=1), rtol=1e-6)


@pytest.mark.parametrize("copied", [gt.copy, np.copy, gt.identity, gt.positive], ids=["gt", "np", "identity", "+x"])
def test_copies_pass_the_gradient(copied: Any) -> None:
    """A copy has memory of its own and all of the gradient."""
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    y = copied(x)
    y.backward(np.array([3.0, 4.0]))
    np.testing.assert_array_equal(x.grad.numpy(), [3.0, 4.0])
    assert not np.shares_memory(y.numpy(), x.numpy())


@pytest.mark.parametrize("kind", [bool, int, float, complex])
def test_identity_takes_every_dtype(kind: type) -> None:
    """What has no gradient can be copied all the same."""
    assert gt.identity(gt.tensor(np.ones(2, kind))).dtype == np.dtype(kind)


def test_questions_about_shapes() -> None:
    """np.shape, np.ndim and np.size of a tensor answer without leaving the tape."""
    x = gt.tensor(np.ones((2, 3)), requires_grad=True)
    assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1), gt.size(x, (0, 1))) == ((2, 3), 2, 6, 3, 6)


def test_questions_about_dtypes() -> None:
    """np.result_type, np.iscomplexobj and np.isrealobj look at the dtype of a tensor."""
    x = gt.tensor(np.ones(2, "float32"), requires_grad=True)
    assert np.result_type(x, 1.0) == np.float32
    assert np.result_type(x, np.float64) == np.float64
    assert (np.iscomplexobj(x), np.isrealobj(x)) == (False, True)
    assert gt.iscomplexobj([1j])


def test_expand_keeps_lengths_of_minus_one() -> None:
    """-1 keeps a length, other lengths stretch axes of length 1, and new axes come first."""
    x = gt.tensor(np.ones((2, 1)), requires_grad=True)
    y = gt.expand(x, (4, -1, 3))
    assert y.shape == (4, 2, 3)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full((2, 1), 12.0))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: np.allclose(x, [1.0, 2.0]), True),
        (lambda x: gt.allclose(x, [1.0, 3.0]), False),
        (lambda x: gt.allclose(x, x + 0.1, atol=0.2), True),
        (lambda x: np.array_equal(x, [1.0, 2.0]), True),
        (lambda x: gt.array_equal(x, [1.0]), False),
    ],
)
def test_comparisons_of_whole_arrays(function: Any, expected: bool) -> None:
    """Questions about whole arrays have one Python answer."""
    assert function(gt.tensor([1.0, 2.0])) is expected


@pytest.mark.parametrize(
    ("dtype", "passes"), [("float32", True), ("complex128", True), ("int64", False), ("bool", False)]
)
def test_casts_pass_gradients_between_floating_types_only(dtype: str, passes: bool) -> None:
    """A cast to another floating type is linear; one to integers or booleans leaves the tape."""
    x = gt.tensor([1.5, 2.5], requires_grad=True)
    y = x.astype(dtype)
    assert y.dtype == np.dtype(dtype)
    assert y.requires_grad is passes
    if passes:
        gt.real(y).sum().backward()
        assert x.grad.dtype == np.float64
        np.testing.assert_array_equal(x.grad.numpy(), [1.0, 1.0])
