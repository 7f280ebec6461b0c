"""Derivatives over rows of Dask arrays, in this process: the numbers, chunks of all kinds, and what is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import gradtape as gt
from gradtape import distributed as gd

da = pytest.importorskip("dask.array", reason="Dask is not installed: nothing of gt.distributed over rows is tested")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(101, 4))
Y = np.sign(RNG.normal(size=101))
W = RNG.normal(size=4)


def logistic(w: Any, x: Any, y: Any) -> Any:
    return np.mean(np.logaddexp(0.0, -y * (x @ w)))


def residuals(w: Any, x: Any, y: Any) -> Any:
    return np.tanh(x @ w) - y


def rows(chunks: Any = 30, dtype: Any = np.float64) -> tuple[Any, Any]:
    return da.from_array(X.astype(dtype), chunks=(chunks, 4)), da.from_array(Y.astype(dtype), chunks=chunks)


def digest(*arrays: Any) -> str:
    return hashlib.sha256(b"".join(np.asarray(x).tobytes() for x in arrays)).hexdigest()


CHUNKS = {
    "one": 101,
    "even": 10,
    "uneven": ((30, 50, 21),),
    "one row": 1,
    "empty ones": ((0, 40, 0, 60, 1, 0),),
    "many lengths": ((*range(1, 14), 10),),
}


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_derivatives_are_those_of_all_rows_in_one_call(chunks: Any) -> None:
    """However the rows are cut, value, gradient, Hessian and products are those of one call, up to rounding."""
    x, y = rows(chunks[0] if isinstance(chunks, tuple) else chunks)
    value, gradient = gd.value_and_grad(logistic, jit=False)(W, x, y)
    expected, by_hand = gt.value_and_grad(logistic)(W, X, Y)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(gradient, by_hand, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(gd.grad(logistic, jit=False)(W, x, y), by_hand, rtol=1e-11, atol=1e-14)
    vector = np.arange(4.0)
    product = gd.hvp(logistic, jit=False)(W, vector, x, y)
    np.testing.assert_allclose(product, gt.hvp(logistic, W, vector, X, Y), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(
        gd.hessian(logistic, jit=False)(W, x, y), gt.hessian(logistic)(W, X, Y), rtol=1e-11, atol=1e-14
    )
    jacobian = gt.jacobian(residuals)(W, X, Y)
    product = gd.gauss_newton(residuals, jit=False)(W, vector, x, y)
    np.testing.assert_allclose(product, jacobian.T @ (jacobian @ vector), rtol=1e-11, atol=1e-13)


def test_bits_depend_on_the_chunks_only() -> None:
    """On one thread or several, in groups of any size, held or read again: the same bits."""
    x, y = rows(7)
    found = {
        digest(*gd.value_and_grad(logistic, on=on, groups=groups, hold=hold)(W, x, y))
        for on, groups, hold in [
            *(("synchronous", groups, False) for groups in (1, 2, 4, 16)),
            *(("threads", groups, None) for groups in (None, 1, 8)),
            ("threads", 2, True),
        ]
    }
    assert len(found) == 1


def test_a_function_is_traced_once_for_a_length() -> None:
    """The tasks of all calls share one compiled function, which is traced once for each length of chunks."""
    x, y = rows(20)  # five of 20 rows, one of 1
    f = gd.value_and_grad(logistic, on="threads", groups=1)
    for step in range(3):
        f(W + step, x, y)
    stats = f.program("value_and_grad").content.compiled.stats
    assert (stats.traces, stats.runs, stats.uncompiled) == (2, 18, 0)


def test_the_answer_has_the_dtype_of_the_parameters() -> None:
    """float32 in, float32 out, with an error of its last place."""
    x, y = rows(9, np.float32)
    value, gradient = gd.value_and_grad(logistic)(W.astype(np.float32), x, y)
    assert (value.dtype, gradient.dtype) == (np.float32, np.float32)
    exact = gt.grad(logistic)(W.astype(np.float32).astype(float), X.astype(np.float32).astype(float), Y)
    np.testing.assert_allclose(gradient, exact, rtol=3e-6, atol=1e-7)


def test_structures_of_parameters_and_arguments() -> None:
    """Parameters are a nested structure, rows are in one, integers are rows too, and the rest is broadcast."""
    labels = RNG.integers(0, 3, size=101)

    def loss(params: Any, data: Any, scale: Any) -> Any:
        scores = scale * (data["x"] @ params["w"]) + params["b"][0]
        return -np.mean((scores - gt.logsumexp(scores, axis=1, keepdims=True))[np.arange(len(scores)), data["k"]])

    params = {"w": RNG.normal(size=(4, 3)), "b": [np.zeros(3)]}
    data = {"x": rows(40)[0], "k": da.from_array(labels, chunks=33)}
    value, gradient = gd.value_and_grad(loss)(params, data, 2.0)
    expected, by_hand = gt.value_and_grad(loss)(params, {"x": X, "k": labels}, 2.0)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(gradient["w"], by_hand["w"], rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(gradient["b"][0], by_hand["b"][0], rtol=1e-11, atol=1e-14)


def test_rows_of_more_axes() -> None:
    """Rows may have axes of their own, also if those are cut into chunks."""
    images = RNG.normal(size=(12, 3, 4))

    def loss(w: Any, x: Any) -> Any:
        return np.sum(np.tanh(np.einsum("nij,ij->n", x, w)))

    w = RNG.normal(size=(3, 4))
    gradient = gd.grad(loss)(w, da.from_array(images, chunks=(5, 2, 2)))
    np.testing.assert_allclose(gradient, gt.grad(loss)(w, images), rtol=1e-12)


def test_chunks_that_share_work_are_computed_once() -> None:
    """Where all chunks need the same expensive intermediate value, it is computed once a pass."""
    calls = []

    def counted(block: Any) -> Any:
        calls.append(len(block))
        return block

    whole = da.from_array(X, chunks=(101, 4)).map_blocks(counted, dtype=float, meta=np.empty((0, 4)))
    x = whole.rechunk((20, 4))
    f = gd.value_and_grad(lambda w, x: np.sum(np.tanh(x @ w)), groups=1, on="synchronous", check=False, reduction="sum")
    value, _ = f(W, x)
    assert value == pytest.approx(np.sum(np.tanh(X @ W)))
    assert len(calls) == 1


def test_functions_of_sums() -> None:
    """finish= gives the gradient of a function of sums over all rows, and penalty= is added once."""

    def sums(w: Any, x: Any, y: Any) -> Any:
        return {"squares": np.sum((x @ w - y) ** 2), "count": float(len(y))}

    def finish(total: Any) -> Any:
        return np.sqrt(total["squares"] / total["count"])

    def whole(w: Any) -> Any:
        return np.sqrt(np.mean((X @ w - Y) ** 2)) + 0.1 * np.sum(w**2)

    value, gradient = gd.value_and_grad(sums, finish=finish, penalty=lambda w: 0.1 * np.sum(w**2))(W, *rows(17))
    expected, by_hand = gt.value_and_grad(whole)(W)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(gradient, by_hand, rtol=1e-11)


def test_a_penalty_is_added_once() -> None:
    """A term of the parameters alone is part of all derivatives, however many chunks there are."""
    penalty = lambda w: np.sum(w**4)
    square = lambda w, x, y: np.sum((x @ w - y) ** 2)
    whole = lambda w: square(w, X, Y) + penalty(w)
    x, y = rows(13)
    value, gradient = gd.value_and_grad(square, penalty=penalty)(W, x, y)
    assert value == pytest.approx(whole(W))
    np.testing.assert_allclose(gradient, gt.grad(whole)(W), rtol=1e-11)
    np.testing.assert_allclose(gd.hvp(square, penalty=penalty)(W, W, x, y), gt.hvp(whole, W, W), rtol=1e-11)
    np.testing.assert_allclose(gd.hessian(square, penalty=penalty)(W, x, y), gt.hessian(whole)(W), rtol=1e-11)


def test_tasks_run_in_an_executor() -> None:
    """on= takes an executor of concurrent.futures."""
    with ThreadPoolExecutor(2) as executor:
        gradient = gd.grad(logistic, on=executor)(W, *rows(20))
    np.testing.assert_allclose(gradient, gt.grad(logistic)(W, X, Y), rtol=1e-11, atol=1e-14)


def test_scipy_finds_the_same_minimum() -> None:
    """The functions are what scipy.optimize.minimize takes, with gradients and products with the Hessian."""
    ridge = lambda w: 0.01 * np.sum(w**2)
    f, product = gd.value_and_grad(logistic, penalty=ridge), gd.hvp(logistic, penalty=ridge)
    found = optimize.minimize(f, np.zeros(4), args=rows(25), jac=True, hessp=product, method="trust-ncg")
    exact = gt.optimize.minimize(lambda w: logistic(w, X, Y) + ridge(w), np.zeros(4))
    assert found.success
    np.testing.assert_allclose(found.x, exact.x, atol=1e-4)


def test_rows_are_read_from_a_memory_map(tmp_path: Path) -> None:
    """On threads of this process a file that is mapped into memory is read chunk by chunk."""
    np.save(tmp_path / "x.npy", X)
    x = da.from_array(np.load(tmp_path / "x.npy", mmap_mode="r"), chunks=(20, 4))
    gradient = gd.grad(lambda w, x: np.mean(np.tanh(x @ w)))(W, x)
    np.testing.assert_allclose(gradient, gt.grad(lambda w: np.mean(np.tanh(X @ w)))(W), rtol=1e-11)


def test_threads_of_blas_and_native_code_are_set_back() -> None:
    """A task runs with one thread of each, and leaves the process as it was."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    before = [library["num_threads"] for library in threadpoolctl.threadpool_info()]
    seen = []

    def loss(w: Any, x: Any) -> Any:
        seen.append({library["num_threads"] for library in threadpoolctl.threadpool_info()})
        seen.append({gt.config.threads})
        return np.sum(x @ w)

    gd.value_and_grad(loss, jit=False, check=False, reduction="sum")(W, rows()[0])
    assert all(numbers == {1} for numbers in seen)
    assert [library["num_threads"] for library in threadpoolctl.threadpool_info()] == before
    assert gt.config.threads is None


# -- refused


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no Dask array": (lambda: gd.grad(logistic)(W, X, Y), "none of the arguments is a Dask array"),
    "unknown lengths": (
        lambda: gd.grad(logistic)(W, rows()[0][rows()[1] > 0], rows()[1][rows()[1] > 0]),
        "compute_chunk_sizes()",
    ),
    "numbers of rows": (lambda: gd.grad(logistic)(W, rows()[0], rows()[1][:50]), "(50,)"),
    "no rows": (lambda: gd.grad(logistic)(W, rows()[0][:0], rows()[1][:0]), "no rows"),
    "no axes": (lambda: gd.grad(logistic)(W, rows()[0], rows()[1].sum()), "no axes"),
    "groups": (lambda: gd.grad(logistic, groups=3), "a power of two"),
    "reduction": (lambda: gd.grad(logistic, reduction="max"), '"mean", "sum"'),
    "engine": (lambda: gd.grad(logistic, on="somewhere")(W, *rows()), "on='somewhere'"),
    "no function": (lambda: gd.grad(3.0), "a function of parameters and rows"),
    "mean of sums": (lambda: gd.value_and_grad(logistic, finish=np.sum, reduction="mean"), "divide in finish"),
}


@pytest.mark.parametrize(("call", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_explained(call: Callable[[], Any], says: str) -> None:
    """The message names what was given and what to write instead."""
    with pytest.raises(gt.GradTapeError) as caught:
        call()
    assert says in " ".join(str(caught.value).split())
    assert "fix:" in str(caught.value)


def test_a_recorded_parameter_is_refused() -> None:
    """A tape does not reach into tasks: the gradient would be lost in silence."""
    w = gt.Variable(W)
    with gt.GradientTape(), pytest.raises(gt.TapeError, match="recorded on a tape"):
        gd.value_and_grad(logistic)(w * 2.0, *rows())


LAZY: dict[str, Callable[[Any, Any], Any]] = {
    "x @ w": lambda x, w: x @ w,
    "w @ x": lambda x, w: w @ x.T,
    "x * w": lambda x, w: x * w,
    "w - x": lambda x, w: w - x,
    "np.add": lambda x, w: np.add(x, w),
    "np.dot": lambda x, w: np.dot(x, w),
    "gt.tensor": lambda x, w: gt.tensor(x),
    "gt.Variable": lambda x, w: gt.Variable(x),
    "gt.grad": lambda x, w: gt.grad(lambda w, x: np.sum(x @ w))(W, x),
}


@pytest.mark.parametrize("use", LAZY.values(), ids=LAZY)
def test_dask_arrays_elsewhere_name_the_way(use: Callable[[Any, Any], Any]) -> None:
    """A Dask array that meets a tensor, or is made one, is an error that names gt.distributed."""
    with pytest.raises(gt.OperandError, match=r"gt\.distributed\.value_and_grad"):
        use(rows()[0], gt.Variable(W))
