"""No function of NumPy loses a gradient in silence: a sweep over all of them, and over all their arguments.

Each function is called on plain arrays with one of its arguments moved a little. Where its floats move along, the same
call with a tracked tensor in that place must return tracked floats, raise, or leave a cut that `why` can name.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from coverage_samples import CALLS

import gradtape as gt

STEP = 1e-6
POINT = {
    "x": np.array([[2.0, 0.31, 0.52], [0.43, 1.54, 0.25], [0.16, 0.67, 1.88]]),
    "v": np.array([0.43, 0.71, 1.32]),
    "u": np.array([0.54, 0.95, 1.16]),
    "s": np.array(0.7),
}
"""Arguments: a matrix, two vectors (the first is sorted) and a number."""

MODULES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "np.random": np.random}

NOT_CALLED = frozenset(
    [
        "array2string",
        "array_repr",
        "array_str",
        "fromfile",
        "fromregex",
        "genfromtxt",
        "get_include",
        "info",
        "load",
        "loadtxt",
        "save",
        "savetxt",
        "savez",
        "savez_compressed",
        "seed",
        "set_printoptions",
        "set_state",
        "setbufsize",
        "seterr",
        "seterrcall",
        "show_config",
        "show_runtime",
        "test",
        "printoptions",
        "errstate",
        "get_state",
        "get_bit_generator",
        "set_bit_generator",
    ]
)
"""Functions that print, read and write files, or change a state of the process."""

NOT_NUMBERS = frozenset(
    [
        "axes",
        "axis",
        "casting",
        "copy",
        "device",
        "dtype",
        "equal_nan",
        "extobj",
        "hermitian",
        "keepdims",
        "kind",
        "like",
        "method",
        "mode",
        "order",
        "out",
        "shape",
        "side",
        "signature",
        "size",
        "subok",
    ]
)
"""Arguments that are no numbers, and those that other tests are about."""

EXTRA = [
    "np.arange(s)",
    "np.arange(s, 5)",
    "np.arange(0, 2, s)",
    "np.bmat([[x, x]])",
    "np.clip(x, s, 5.0)",
    "np.ediff1d(v, s, s)",
    "np.full(3, s)",
    "np.full_like(u.copy(), s)",
    "np.geomspace(s, 5.0, 4)",
    "np.gradient([1.0, 4.0, 9.0], v)",
    "np.histogram([1, 2, 2], v)",
    "np.histogram([0.5, 0.6, 0.7], v, density=True)",
    "np.histogram([0.5, 0.6, 0.7], 3, (s, 2.0))",
    "np.histogram(v, 3)",
    "np.histogram2d(v, u, 3)",
    "np.histogramdd(x, 2)",
    "np.histogram_bin_edges([1, 2, 2], v)",
    "np.insert([1.0, 2.0], 1, s)",
    "np.interp([0.5, 1.0], v, [1.0, 2.0, 4.0])",
    "np.interp(s, [0.0, 1.0], [1.0, 2.0])",
    "np.ix_(v)",
    "np.ix_(v, [1, 2])",
    "np.linspace(0.0, s, 4)",
    "np.logspace(0.0, s, 4)",
    "np.logspace(0.0, 1.0, 4, base=s)",
    "np.nan_to_num([1.0, np.nan], nan=s)",
    "np.pad([1.0, 2.0], 1, constant_values=s)",
    "np.percentile([1.0, 2.0, 5.0], 30 * s)",
    "np.piecewise([0.5, 2.0], [[True, False]], [s, 1.0])",
    "np.quantile([1.0, 2.0, 5.0], s)",
    "np.select([[True, False]], [[1.0, 2.0]], s)",
    "np.trapezoid([1.0, 2.0, 4.0], v)",
    "np.trapezoid([1.0, 2.0, 4.0], dx=s)",
    "np.unwrap([1.0, 9.0, 19.0], period=9 * s)",
    "np.where([True, False], s, 1.0)",
    "np.kaiser(3, s)",
    "np.i0(s)",
    "np.vander(v)",
    "np.fft.fftfreq(4, s)",
    "np.fft.rfftfreq(4, s)",
    "np.array([s, s])",
    "np.asarray(v)",
    "np.ascontiguousarray(v)",
    "np.matrix(x)",
    "np.asmatrix(x)",
    "np.ma.array(v)",
    "np.ma.asarray(v)",
    "np.ma.masked_where([True, False, True], v)",
    "np.poly1d(v)(2.0)",
    "np.polynomial.Polynomial(v)(2.0)",
    "np.r_[v, u]",
    "np.c_[v, u]",
    "np.mgrid[0:1:s]",
    "np.ogrid[0:1:s]",
    "np.fromiter([s, s], float)",
    "np.fromfunction(lambda i: i * s, (3,))",
    "np.vectorize(lambda t: 2 * t)(v)",
    "np.frompyfunc(lambda t: 2 * t, 1, 1)(v)",
    "np.apply_along_axis(lambda row: row * 2, 0, v)",
    "np.nditer(v)",
    "list(np.ndenumerate(v))",
    "np.ndindex(3)",
    "np.broadcast(v, u).iters",
    "np.float64(s)",
    "np.float32(s)",
    "np.complex128(s)",
    "np.longdouble(s)",
    "np.format_float_positional(s)",
    "np.random.default_rng(0).normal(s, 1.0, 3)",
    "np.random.default_rng(0).normal(v, 1.0)",
    "np.random.default_rng(0).uniform(0.0, s, 3)",
    "np.random.default_rng(0).exponential(v)",
    "np.random.default_rng(0).choice(v, 2)",
    "np.random.default_rng(0).permutation(v)",
    "np.random.normal(s, 1.0, 3)",
    "np.random.uniform(0.0, v)",
    "np.random.permutation(v)",
    "np.random.choice(v, 2)",
    "z = np.zeros(3); z.fill(s); z",
    "z = np.zeros(3); z[0] = s; z",
    "z = np.zeros(3); z[:] = v; z",
    "z = np.zeros(3); z.itemset(0, s) if hasattr(z, 'itemset') else z.put(0, s); z",
    "z = np.zeros(3); z.put([0, 1], s); z",
    "z = np.zeros(3); z.flat[0] = s; z",
    "z = np.zeros(3); z.flat = v; z",
    "z = np.zeros(3); z.real = v; z",
    "z = np.zeros(3, complex); z.imag = v; z",
    "z = np.zeros(3); np.copyto(z, v); z",
    "z = np.zeros(3); np.put(z, [0, 1], s); z",
    "z = np.zeros(3); np.place(z, np.array([True, False, True]), v); z",
    "z = np.zeros(3); np.putmask(z, np.array([True, False, True]), v); z",
    "z = np.zeros((3, 3)); np.fill_diagonal(z, s); z",
    "z = np.zeros((3, 3)); np.put_along_axis(z, np.array([[0], [2], [1]]), s, 1); z",
    "z = np.zeros(3); np.add.at(z, [0, 1], s); z",
    "z = np.zeros(3); np.add(v, u, out=z); z",
    "z = np.ones(3); z += v; z",
    "z = np.ones(3); z.dot(v)",
    "z = np.ones(3); z.clip(s, 2.0)",
    "z = np.ones(3); z.searchsorted(v)",
    "z = np.ones(3); np.ones(3).__array_wrap__(v)",
    "z = np.ones(3); z.sum(initial=s)",
    "z = np.ones(3); z.max(initial=s + 1)",
    "z = np.ones(3); z.prod(initial=s)",
    "z = np.ones(3); z.var(mean=s) if 'mean' in (np.var.__doc__ or '') else z",
]
"""Calls beyond those of the coverage page: numbers as arguments, classes, methods of arrays, and writes into them."""


def functions() -> Iterator[tuple[str, Any]]:
    for prefix, module in MODULES.items():
        for short in module.__all__:
            found = getattr(module, short)
            if callable(found) and not isinstance(found, type) and short not in NOT_CALLED:
                yield f"{prefix}.{short}", found


def calls() -> list[str]:
    """The calls of the coverage page, some for every other function, and each with every keyword it takes."""
    found = [*EXTRA]
    for name, function in functions():
        call = CALLS.get(name)
        bases = [call] if call else [f"{name}({given})" for given in ("x", "v", "s", "v, u", "s, s", "s, s, 3")]
        found += bases
        base = bases[0]
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:
            continue
        for parameter in parameters:
            keyword = parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            if keyword and parameter.name not in NOT_NUMBERS and base.endswith(")"):
                found += [f"{base[:-1]}, {parameter.name}={given})" for given in ("s", "v")]
    return list(dict.fromkeys(found))


def run(call: str, values: dict[str, Any]) -> list[Any]:
    """What a call returns, taken apart."""
    *statements, expression = [part.strip() for part in call.split("; ")]
    names: dict[str, Any] = {"np": np, "gt": gt, **values}
    exec("\n".join(statements), names)
    return list(parts(eval(expression, names)))


def parts(result: Any) -> Iterator[Any]:
    if isinstance(result, list | tuple) or type(result).__name__ == "nditer":
        for part in result:
            yield from parts(part)
    else:
        yield result


def floats(found: list[Any]) -> list[Any]:
    """Those parts that hold floats."""
    return [
        part for part in found if type(part) is float or getattr(getattr(part, "dtype", None), "kind", "") in ("f", "c")
    ]


def moving(call: str, name: str) -> list[bool]:
    """Which of the floats of a call on plain arrays move a little when one of its arguments does."""
    results = []
    for step in (0.0, STEP, -STEP):
        values = {key: np.array(value) for key, value in POINT.items()}
        values[name] = values[name] + step
        np.random.seed(0)
        try:
            results.append([np.array(part) for part in floats(run(call, values))])
        except Exception:  # a call that NumPy refuses, in whatever way
            return []
    here, *beside = results
    if any([part.shape for part in other] != [part.shape for part in here] for other in beside):
        return []

    def change(part: Any, other: Any) -> float:
        return float(np.max(np.abs(part - other), initial=0))

    return [all(0 < change(part, other[place]) < 1e3 * STEP for other in beside) for place, part in enumerate(here)]


def lost(call: str, name: str, moved: list[bool]) -> str:
    """What is lost in silence when the argument is tracked; empty if nothing is."""
    values: dict[str, Any] = {key: np.array(value) for key, value in POINT.items()}
    with gt.GradientTape(persistent=True) as tape:
        source = values[name] = tape.watch(values[name])
        np.random.seed(0)
        try:
            found = floats(run(call, values))
        except (gt.GradTapeError, TypeError, ValueError):
            return ""  # not in silence
        if len(found) != len(moved):
            return "the results of tensors are not those of arrays"
        for part, moves in zip(found, moved, strict=True):
            if moves and not (isinstance(part, gt.Tensor) and part.is_tracked):
                reason = str(tape.why(gt.sum(gt.asarray(part)), source))
                if "[GT202]" in reason:  # it was not computed from the source
                    return f"a {type(part).__name__} without a gradient, and no cut that names a reason"
    return ""


JUSTIFIED = {
    "np.bmat": "returns None for all that is no array, list or string; it calls nothing of a tensor's",
}
"""Functions that may lose what they lose, and why."""

SHARES = 8


@pytest.mark.parametrize("share", range(SHARES))
def test_no_function_of_numpy_loses_a_gradient_in_silence(share: int) -> None:
    """Floats that move with an argument have a gradient, or an error or a cut says why they have none."""
    wrong = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for call in calls()[share::SHARES]:
            for name in [name for name in POINT if re.search(rf"\b{name}\b", call)]:
                moved = moving(call, name)
                if any(moved) and (found := lost(call, name, moved)):
                    wrong.append(f"{call} in {name}: {found}")
    wrong = [one for one in wrong if one.partition("(")[0] not in JUSTIFIED]
    assert not wrong, "\n".join(wrong)


def test_the_sweep_finds_what_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that takes the numbers out of a tensor without a word is found by the sweep."""
    monkeypatch.setattr(
        gt, "careless", lambda v: np.array(v._array if isinstance(v, gt.Tensor) else v) * 2.0, raising=False
    )
    assert moving("gt.careless(v)", "v") == [True]
    assert "no cut" in lost("gt.careless(v)", "v", [True])


W = np.array([0.513, 1.0, 2.0])


def _filled(w: Any) -> Any:
    z = np.zeros(3)
    z.fill(w[0])
    return np.sum(z * w)


def _flat(w: Any) -> Any:
    z = np.zeros(3)
    z.flat[1] = w[0]
    return np.sum(z * w)


@pytest.mark.parametrize("function", [_filled, _flat])
def test_numbers_written_into_arrays_are_reported(function: Any) -> None:
    """A number that `fill` or `flat` writes into a plain array, which then meets the tape, is warned of."""
    with pytest.warns(gt.GradientWarning, match="GT210") as caught:
        gt.grad(function)(W)
    assert "gt.zeros(3)" in str(caught[0].message)


@pytest.mark.parametrize("mode", [lambda f: f, gt.jit])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda w: np.sum(np.ix_(w, w)[1] * np.array([1.0, 10.0, 100.0])), [1, 10, 100]),
        (lambda w: np.histogram(np.array([1, 1]), w)[1][1], [0, 1, 0]),
        (lambda w: np.histogram(np.array([0.6, 1.5]), w, density=True)[0][0], [0.5 / 0.487**2, -0.5 / 0.487**2, 0]),
        (lambda w: np.histogram(w, 2)[1][1], [0.5, 0, 0.5]),
        (lambda w: gt.arange(w[0], 4.0).sum(), [4, 0, 0]),
        (lambda w: gt.arange(0.0, 2.0, w[0]).sum(), [6, 0, 0]),
        (lambda w: gt.arange(0.0, 2.0 * w[1]).sum() + w[2], [0, 0, 1]),
    ],
    ids=["ix_", "edges given", "density", "edges found", "start", "step", "stop"],
)
def test_gradients_that_were_lost_once(function: Any, expected: Any, mode: Any) -> None:
    """Open meshes, edges of bins and ranges have the gradients of what they are made of, eager and compiled."""
    assert np.allclose(mode(gt.grad(function))(W), expected)


def erf(x: float) -> float:
    return 2 * x


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda w: np.frompyfunc(lambda t: 2 * t, 1, 1)(w), r"np\.frompyfunc\(<lambda>, \.\.\.\)"),
        (lambda w: np.frompyfunc(erf, 1, 1)(w), r"np\.frompyfunc\(erf, \.\.\.\)"),
        (lambda w: np.nditer(w), r"numpy\.nditer takes bare arrays"),
    ],
)
def test_functions_that_take_bare_arrays_are_named(call: Any, words: str) -> None:
    """A function of the user's own, whatever its name, and an iterator of NumPy's are refused by their names."""
    with pytest.raises(gt.GradTapeError, match=words):
        call(gt.tensor(W, requires_grad=True))


def test_the_layout_of_a_tensor_can_be_asked_for() -> None:
    """`flags` say how the elements lie in memory, so that `np.isfortran` answers."""
    assert np.isfortran(gt.tensor(np.asfortranarray(np.ones((2, 3)))))
    assert not np.isfortran(gt.tensor(np.ones((2, 3)), requires_grad=True))
