"""Arguments for every function of the array API standard, drawn at random: plain arrays, and the names of dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

BOOL = ["bool"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
REAL = INTEGERS + FLOATS
NUMERIC = REAL + COMPLEX
ALL = BOOL + NUMERIC


class DType(str):
    """The name of a dtype, where the argument is a dtype."""


def elements(dtype: str, finite: bool = False) -> st.SearchStrategy[Any]:
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return st.booleans()
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return st.integers(max(info.min, -20), min(info.max, 20)) | st.sampled_from([int(info.min), int(info.max)])
    numbers: st.SearchStrategy[Any] = st.integers(-8, 8).map(lambda n: n / 2)
    if not finite:
        numbers = numbers | st.sampled_from([-0.0, float("inf"), -float("inf"), float("nan"), 1e30, 1e-30])
    return numbers if kind.kind == "f" else st.builds(complex, numbers, numbers)


@st.composite
def arrays(
    draw: Any, dtypes: list[str], shape: Any = None, finite: bool = False, least: int = 0, sizes: int = 0
) -> Any:
    dtype = draw(st.sampled_from(dtypes))
    if shape is None:
        shape = draw(hnp.array_shapes(min_dims=least, max_dims=3, min_side=sizes, max_side=4))
    return draw(hnp.arrays(dtype, shape, elements=elements(dtype, finite)))


# -- the arguments of everything that is neither unary nor a binary function of elements


def axis_of(draw: Any, x: Any, none: bool = True, several: bool = False) -> Any:
    choices: list[Any] = [None] if none else []
    choices += list(range(-x.ndim, x.ndim))
    if several and x.ndim > 1:
        choices += [(0, 1), (-1, 0), ()]
    return draw(st.sampled_from(choices))


def reduction(dtypes: list[str], keyword_dtype: bool = False, sizes: int = 0, **more: Any) -> Callable[[Any], Any]:
    def arguments(draw: Any) -> Any:
        x = draw(arrays(dtypes, sizes=sizes, finite=True))
        kwargs = {"axis": axis_of(draw, x, several="single" not in more), "keepdims": draw(st.booleans())}
        if keyword_dtype and x.dtype.kind in "iu":
            kwargs["dtype"] = draw(
                st.sampled_from([None, DType("int64"), DType("int8"), DType("uint16"), DType("float64")])
            )
        if "correction" in more:
            kwargs["correction"] = draw(st.sampled_from([0, 0.5]))
        return (x,), kwargs

    return arguments


def running(draw: Any) -> Any:
    x = draw(arrays(NUMERIC, least=1, finite=True))
    axis = None if x.ndim == 1 and draw(st.booleans()) else axis_of(draw, x, none=False)
    return (x,), {"axis": axis, "include_initial": draw(st.booleans())}


def like(dtypes: list[str] = ALL, **more: Any) -> Callable[[Any], Any]:
    def arguments(draw: Any) -> Any:
        dtype = draw(st.sampled_from([None, *map(DType, dtypes)]))
        return (draw(arrays(ALL)), *more.get("fill", ())), {"dtype": dtype, "device": draw(st.just(None))}

    return arguments


def created(*before: Any) -> Callable[[Any], Any]:
    def arguments(draw: Any) -> Any:
        shape = draw(st.sampled_from([(), (0,), (2, 3), 4]))
        return (shape, *before), {"dtype": draw(st.sampled_from([None, *map(DType, ALL)]))}

    return arguments


def square(draw: Any, dtypes: list[str] = FLOATS + COMPLEX, batch: Any = ((), (2,))) -> Any:
    """Well conditioned matrices, so that the last digits do not matter."""
    n = draw(st.integers(1, 3))
    x = draw(arrays(dtypes, shape=(*draw(st.sampled_from(batch)), n, n), finite=True))
    return x + (20 * np.eye(n)).astype(x.dtype)


def symmetric(draw: Any) -> Any:
    x = square(draw)
    x = x + np.conj(np.swapaxes(x, -1, -2))
    return x + np.diag(np.arange(x.shape[-1]) * 50).astype(x.dtype)


def with_axis(dtypes: list[str] = ALL, none: bool = False, **kwargs: Any) -> Callable[[Any], Any]:
    def arguments(draw: Any) -> Any:
        x = draw(arrays(dtypes, least=1, sizes=kwargs.get("sizes", 0)))
        return (x,), {"axis": axis_of(draw, x, none)} | {
            key: draw(st.booleans()) for key in kwargs if key in ("descending",)
        }

    return arguments


def transform(real: bool = False, complex_: bool = True, several: bool = False) -> Callable[[Any], Any]:
    def arguments(draw: Any) -> Any:
        x = draw(arrays((FLOATS if real else []) + (COMPLEX if complex_ else []), least=1, sizes=2, finite=True))
        kwargs = {"norm": draw(st.sampled_from(["backward", "ortho", "forward"]))}
        if several:
            axes = draw(st.sampled_from([None, (-1,), tuple(range(x.ndim))]))
            kwargs |= (
                {"axes": axes} if axes is None else {"axes": axes, "s": draw(st.sampled_from([None, (4,) * len(axes)]))}
            )
        else:
            kwargs |= {"n": draw(st.sampled_from([None, 3, 5])), "axis": axis_of(draw, x, none=False)}
        return (x,), kwargs

    return arguments


def stacked(axis_none: bool) -> Callable[[Any], Any]:
    def arguments(draw: Any) -> Any:
        x = draw(arrays(ALL, least=1))
        return ([x, x],), {"axis": axis_of(draw, x, axis_none)}

    return arguments


def sized(draw: Any) -> Any:
    x = draw(arrays(NUMERIC, least=1, sizes=1, finite=True))
    return (x,), {"axis": axis_of(draw, x, none=False), "n": draw(st.integers(0, 2))}


def diagonals(draw: Any) -> Any:
    return (draw(arrays(NUMERIC, least=2, finite=True)),), {"offset": draw(st.integers(-2, 2))}


def taken(draw: Any) -> Any:
    x = draw(arrays(ALL, least=1, sizes=1))
    axis = axis_of(draw, x, none=False)
    return (x, draw(hnp.arrays("int64", 3, elements=st.integers(-x.shape[axis], x.shape[axis] - 1)))), {"axis": axis}


def taken_along(draw: Any) -> Any:
    x = draw(arrays(ALL, least=1, sizes=1))
    axis = axis_of(draw, x, none=False)
    return (x, draw(hnp.arrays("int64", x.shape, elements=st.integers(0, x.shape[axis] - 1)))), {"axis": axis}


def chosen(draw: Any) -> Any:
    dtype = draw(st.sampled_from(ALL))
    x = draw(arrays([dtype]))
    scalar = draw(elements(dtype))
    other = draw(st.sampled_from([x, x[::-1] if x.ndim else x, scalar]))
    return (draw(arrays(BOOL, x.shape)), *draw(st.permutations([x, other]))), {}


def products(draw: Any) -> Any:
    dtype = [draw(st.sampled_from(NUMERIC))]
    return draw(arrays(dtype, (2, 3), finite=True)), draw(arrays(dtype, (2, 3), finite=True))


def moved(draw: Any) -> Any:
    return (draw(arrays(ALL, (2, 3, 1))), *draw(st.sampled_from([(0, -1), ((0, 1), (1, 2)), (2, 0)]))), {}


def searched(draw: Any) -> Any:
    dtype = [draw(st.sampled_from(REAL))]
    x = draw(arrays(dtype, 5, finite=True))
    sorter = np.argsort(x) if draw(st.booleans()) else None
    side = draw(st.sampled_from(["left", "right"]))
    return (x if sorter is not None else np.sort(x), draw(arrays(dtype, (2, 2), finite=True))), {
        "side": side,
        "sorter": sorter,
    }


def clipped(draw: Any) -> Any:
    dtype = draw(st.sampled_from(REAL))
    bounds = sorted(draw(st.tuples(elements(dtype, True), elements(dtype, True))))
    if draw(st.booleans()):
        bounds = [np.asarray(bound, dtype) for bound in bounds]
    return (draw(arrays([dtype])), *draw(st.sampled_from([bounds, [None, bounds[1]], bounds[:1], []]))), {}


TABLE: dict[str, Callable[[Any], Any]] = {
    "arange": lambda draw: (
        draw(st.sampled_from([(3,), (1, 4), (0, 1, 0.25), (5, 0, -2), (0,), (2, 2)])),
        {"dtype": draw(st.sampled_from([None, DType("float32"), DType("float64")]))},
    ),
    "asarray": lambda draw: (
        (draw(st.sampled_from([1, 2.5, 1j, True, [1, 2], [[1.5], [2]], [], (1, True)])),),
        {"dtype": draw(st.sampled_from([None, DType("complex128")])), "copy": draw(st.sampled_from([None, True]))},
    ),
    "empty": lambda draw: ((0,), {"dtype": draw(st.sampled_from([None, *map(DType, ALL)]))}),
    "empty_like": lambda draw: ((draw(arrays(ALL, (0, 2))),), {}),
    "zeros": created(),
    "ones": created(),
    "full": lambda draw: ((draw(st.sampled_from([(), 2, (2, 0)])), draw(st.sampled_from([1, 1.5, True, 2j]))), {}),
    "zeros_like": like(),
    "ones_like": like(),
    "full_like": lambda draw: ((draw(arrays(NUMERIC)), 3), {}),
    "eye": lambda draw: (
        draw(st.sampled_from([(2,), (2, 3), (0,), (3, None)])),
        {"k": draw(st.integers(-2, 2)), "dtype": draw(st.sampled_from([None, DType("int8")]))},
    ),
    "linspace": lambda draw: (
        draw(st.sampled_from([(0, 1, 5), (1.0, -1.0, 4), (0, 0, 1), (2, 3, 0), (0, 1j, 3)])),
        {"endpoint": draw(st.booleans())},
    ),
    "from_dlpack": lambda draw: ((draw(arrays(ALL)),), {}),
    "meshgrid": lambda draw: (
        tuple(draw(arrays(["int64"], n)) for n in draw(st.sampled_from([(2,), (2, 3), (1, 2, 3)]))),
        {"indexing": draw(st.sampled_from(["xy", "ij"]))},
    ),
    "tril": lambda draw: ((draw(arrays(ALL, least=2)),), {"k": draw(st.integers(-2, 2))}),
    "triu": lambda draw: ((draw(arrays(ALL, least=2)),), {"k": draw(st.integers(-2, 2))}),
    "astype": lambda draw: (
        (draw(arrays(BOOL + INTEGERS)), DType(draw(st.sampled_from(ALL)))),
        {"copy": draw(st.booleans())},
    ),
    "broadcast_arrays": lambda draw: ((draw(arrays(ALL, (2, 1))), draw(arrays(ALL, (3,)))), {}),
    "broadcast_shapes": lambda draw: (((2, 1), (3,)), {}),
    "broadcast_to": lambda draw: ((draw(arrays(ALL, (2, 1))), (4, 2, 3)), {}),
    "can_cast": lambda draw: (
        draw(
            st.sampled_from(
                [(DType(a), DType(b)) for group in (BOOL, INTEGERS, FLOATS + COMPLEX) for a in group for b in group]
            )
        ),
        {},
    ),
    "isdtype": lambda draw: (
        (
            DType(draw(st.sampled_from(ALL))),
            draw(st.sampled_from(["bool", "integral", "numeric", "real floating", ("signed integer", "bool")])),
        ),
        {},
    ),
    "clip": clipped,
    "concat": stacked(True),
    "stack": stacked(False),
    "expand_dims": lambda draw: ((draw(arrays(ALL)),), {"axis": draw(st.sampled_from([0, -1]))}),
    "flip": with_axis(none=True),
    "moveaxis": moved,
    "permute_dims": lambda draw: ((draw(arrays(ALL, (2, 3, 1))), draw(st.permutations(range(3)).map(tuple))), {}),
    "repeat": lambda draw: (
        (draw(arrays(ALL, (2, 3))), draw(st.sampled_from([2, np.array([1, 0, 2]), np.array([2, 1, 1])]))),
        {"axis": 1},
    ),
    "reshape": lambda draw: (
        (draw(arrays(ALL, (2, 6))), draw(st.sampled_from([(12,), (3, -1), (1, 12)]))),
        {"copy": draw(st.sampled_from([None, True, False]))},
    ),
    "roll": lambda draw: (
        (draw(arrays(ALL, (2, 3))), draw(st.integers(-4, 4))),
        {"axis": draw(st.sampled_from([None, 1]))},
    ),
    "squeeze": lambda draw: ((draw(arrays(ALL, (1, 2, 1))), draw(st.sampled_from([0, (0, 2), -1]))), {}),
    "tile": lambda draw: ((draw(arrays(ALL, (2, 3))), draw(st.sampled_from([(2,), (1, 2), (2, 1, 2)]))), {}),
    "unstack": with_axis(sizes=1),
    "argmax": reduction(REAL, sizes=1, single=True),
    "argmin": reduction(REAL, sizes=1, single=True),
    "nonzero": lambda draw: ((draw(arrays(ALL, least=1)),), {}),
    "count_nonzero": reduction(ALL),
    "searchsorted": searched,
    "where": chosen,
    "isin": lambda draw: ((draw(arrays(["int64"])), draw(arrays(["int64"], (3,)))), {}),
    "unique_all": lambda draw: ((draw(arrays(REAL, finite=True)),), {}),
    "unique_counts": lambda draw: ((draw(arrays(REAL, finite=True)),), {}),
    "unique_inverse": lambda draw: ((draw(arrays(REAL, finite=True)),), {}),
    "unique_values": lambda draw: ((draw(arrays(REAL, finite=True)),), {}),
    "argsort": with_axis(REAL, descending=True),
    "sort": with_axis(REAL, descending=True),
    "cumulative_sum": running,
    "cumulative_prod": running,
    "max": reduction(REAL, sizes=1),
    "min": reduction(REAL, sizes=1),
    "mean": reduction(FLOATS + COMPLEX, sizes=1),
    "prod": reduction(FLOATS + INTEGERS, True),
    "sum": reduction(NUMERIC, True),
    "std": reduction(FLOATS, sizes=2, correction=True),
    "var": reduction(FLOATS, sizes=2, correction=True),
    "all": reduction(ALL),
    "any": reduction(ALL),
    "diff": sized,
    "take": taken,
    "take_along_axis": taken_along,
    "matmul": lambda draw: ((x := products(draw)) and (x[0], x[1].T), {}),
    "matrix_transpose": lambda draw: ((draw(arrays(ALL, least=2)),), {}),
    "tensordot": lambda draw: (
        products(draw),
        {"axes": draw(st.sampled_from([0, 2, ((0,), (0,)), ((-1, 0), (-1, 0))]))},
    ),
    "vecdot": lambda draw: (products(draw), {"axis": draw(st.sampled_from([-1, -2]))}),
    "linalg.cholesky": lambda draw: ((symmetric(draw) + 300 * np.eye(1),), {"upper": draw(st.booleans())}),
    "linalg.cross": lambda draw: ((draw(arrays(["float64"], (2, 3))), draw(arrays(["float64"], (2, 3)))), {}),
    "linalg.det": lambda draw: ((square(draw),), {}),
    "linalg.diagonal": diagonals,
    "linalg.eigh": lambda draw: ((symmetric(draw).real,), {}),
    "linalg.eigvalsh": lambda draw: ((symmetric(draw),), {}),
    "linalg.inv": lambda draw: ((square(draw),), {}),
    "linalg.matrix_norm": lambda draw: (
        (square(draw),),
        {"ord": draw(st.sampled_from(["fro", "nuc", 1, -1, 2, -2, float("inf")])), "keepdims": draw(st.booleans())},
    ),
    "linalg.matrix_power": lambda draw: ((square(draw, FLOATS) / 20, draw(st.integers(-2, 3))), {}),
    "linalg.matrix_rank": lambda draw: ((square(draw),), {"rtol": draw(st.sampled_from([None, 0.1]))}),
    "linalg.outer": lambda draw: ((draw(arrays(["int64"], 2)), draw(arrays(["int64"], 3))), {}),
    "linalg.pinv": lambda draw: ((square(draw),), {"rtol": draw(st.sampled_from([None, 1e-3]))}),
    "linalg.qr": lambda draw: ((square(draw),), {"mode": draw(st.sampled_from(["reduced", "complete"]))}),
    "linalg.slogdet": lambda draw: ((square(draw),), {}),
    "linalg.solve": lambda draw: ((x := square(draw, batch=((),)), x[:, 0] if draw(st.booleans()) else x), {}),
    "linalg.svd": lambda draw: ((symmetric(draw).real,), {"full_matrices": draw(st.booleans())}),
    "linalg.svdvals": lambda draw: ((square(draw),), {}),
    "linalg.trace": diagonals,
    "linalg.vector_norm": lambda draw: (
        (x := draw(arrays(FLOATS + COMPLEX, sizes=1, finite=True)),),
        {
            "axis": axis_of(draw, x, several=True),
            "keepdims": draw(st.booleans()),
            "ord": draw(st.sampled_from([2, 1, 0, float("inf"), -float("inf"), 3])),
        },
    ),
    "fft.fft": transform(),
    "fft.ifft": transform(),
    "fft.fftn": transform(several=True),
    "fft.ifftn": transform(several=True),
    "fft.rfft": transform(real=True, complex_=False),
    "fft.irfft": transform(),
    "fft.rfftn": transform(real=True, complex_=False, several=True),
    "fft.irfftn": transform(several=True),
    "fft.hfft": transform(),
    "fft.ihfft": transform(real=True, complex_=False),
    "fft.fftfreq": lambda draw: (
        (draw(st.integers(1, 5)),),
        {"d": 0.5, "dtype": draw(st.sampled_from([None, DType("float32")]))},
    ),
    "fft.rfftfreq": lambda draw: ((draw(st.integers(1, 5)),), {"d": 0.5}),
    "fft.fftshift": lambda draw: ((draw(arrays(NUMERIC, (2, 3))),), {"axes": draw(st.sampled_from([None, 1, (0, 1)]))}),
    "fft.ifftshift": lambda draw: (
        (draw(arrays(NUMERIC, (2, 3))),),
        {"axes": draw(st.sampled_from([None, 1, (0, 1)]))},
    ),
}
"""The arguments of every function of the standard that is neither unary nor a binary function of elements."""
