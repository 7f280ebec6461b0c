"""gradtape.array_api beside array-api-strict, function by function, for what the standard defines."""

from __future__ import annotations

import inspect
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from array_api_arguments import ALL, FLOATS, TABLE, DType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradtape as gt
import gradtape.array_api as xp

few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


def functions_of(namespace: Any) -> dict[str, Any]:
    return {n: f for n in namespace.__all__ if inspect.isfunction(f := getattr(namespace, n)) and "flags" not in n}


SPACES = {"": (strict, xp), "linalg.": (strict.linalg, xp.linalg), "fft.": (strict.fft, xp.fft)}
FUNCTIONS = {
    prefix + name: (function, getattr(ours, name, None))
    for prefix, (theirs, ours) in SPACES.items()
    for name, function in functions_of(theirs).items()
}
ASKED = {"finfo", "iinfo", "result_type", "__array_namespace_info__"}  # have tests of their own
NEWER = {"isin", "broadcast_shapes"}  # in the draft of the next version only
SAME = {"linalg.matmul", "linalg.matrix_transpose", "linalg.tensordot", "linalg.vecdot"}
REST = [name for name in FUNCTIONS if name not in TABLE and name not in ASKED | SAME]


def parameters(function: Any) -> list[Any]:
    """Names, kinds and defaults; what the reference marks as left open is None."""
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, None if "Undef" in type(p.default).__name__ else p.default) for p in found]


ELEMENTS = [name for name in REST if len(parameters(FUNCTIONS[name][0])) == 1]
PAIRS = [name for name in REST if [p[0] for p in parameters(FUNCTIONS[name][0])] == ["x1", "x2"]]


def special(dtype: str) -> Any:
    """The numbers of a dtype at which functions do something particular."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False])
    if kind in "iu":
        info = np.iinfo(dtype)
        return np.unique(np.array([info.min, info.max, 0, 1, 2, 5, 7], dtype))
    real = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan, 1e30, 1e-30], dtype)
    return real if kind == "f" else np.array([0.5, -2.0, 1 + 2j, -1j, 3 - 0.5j], dtype)


def converted(value: Any, namespace: Any) -> Any:
    """An argument as that namespace has it."""
    if isinstance(value, DType):
        return getattr(namespace, value)
    if isinstance(value, np.ndarray | np.generic):
        return namespace.asarray(value)
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return [namespace.asarray(each) for each in value]
    return value


def compare(name: str, *args: Any, **kwargs: Any) -> bool:
    """Call both; False if the reference refuses these dtypes, which the standard leaves open then."""
    reference, ours = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        try:
            expected = reference(
                *[converted(a, strict) for a in args], **{k: converted(v, strict) for k, v in kwargs.items()}
            )
        except TypeError:
            return False
        assert ours is not None
        found = ours(*[converted(a, xp) for a in args], **{k: converted(v, xp) for k, v in kwargs.items()})
        check_same(expected, found, has_signs=name != "sort")  # zeros are equal: which is first is not specified
    return True


def check_same(expected: Any, found: Any, has_signs: bool = True) -> None:
    if isinstance(expected, tuple | list):
        assert len(expected) == len(found)
        assert getattr(expected, "_fields", None) == getattr(found, "_fields", None)
        for one, other in zip(expected, found, strict=True):
            check_same(one, other, has_signs)
    elif hasattr(expected, "_array"):
        check_same_array(expected._array, found, has_signs)
    else:
        assert expected == found


def check_same_array(expected: Any, found: Any, has_signs: bool = True) -> None:
    assert isinstance(found, gt.Tensor)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(found.numpy(), expected)
        return
    tolerance = 100 * float(np.finfo(expected.dtype).eps)
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)
    if expected.dtype == np.float64 and has_signs:
        zeros = (expected == 0) & (found.numpy() == 0)
        np.testing.assert_array_equal(np.signbit(found.numpy())[zeros], np.signbit(expected)[zeros])


def test_nothing_is_forgotten() -> None:
    """Every function, constant and dtype of the reference is there, and each function is compared below."""
    helpers = {"Device", "ArrayAPIStrictFlags", "__version__"} | {n for n in strict.__all__ if "flags" in n}
    assert [n for n in strict.__all__ if n not in helpers and not hasattr(xp, n)] == []
    assert [name for name, (_, ours) in FUNCTIONS.items() if ours is None] == []
    assert set(REST) == set(ELEMENTS) | set(PAIRS)
    assert [name for name in xp.__all__ if not hasattr(xp, name)] == []
    assert len(ELEMENTS) + len(PAIRS) + len(TABLE) > 160


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"expand_dims", "__array_namespace_info__"}))
def test_signature_is_that_of_the_standard(name: str) -> None:
    """Names, positional-only and keyword-only marks and defaults are the reference's."""
    reference, ours = FUNCTIONS[name]
    assert parameters(ours) == parameters(reference)
    assert inspect.getdoc(ours)


@pytest.mark.parametrize("name", sorted(TABLE))
@few
@given(data=st.data())
def test_gives_what_the_reference_gives(name: str, data: st.DataObject) -> None:
    """The function returns the reference's values, shapes, dtypes and tuples, as tensors."""
    args, kwargs = TABLE[name](data.draw)
    compare(name, *args, **kwargs)


@pytest.mark.parametrize("name", ELEMENTS)
def test_of_elements_gives_what_the_reference_gives(name: str) -> None:
    """A function of single elements agrees with the reference where values are special, and on empty arrays."""
    compared = [compare(name, special(dtype)) for dtype in ALL]
    assert any(compared)
    for dtype in ALL:
        compare(name, special(dtype)[:0])
        compare(name, special(dtype)[1])


@pytest.mark.parametrize("name", PAIRS)
def test_of_pairs_gives_what_the_reference_gives(name: str) -> None:
    """A function of pairs agrees with the reference: every special value with every other, and with Python numbers."""
    compared = []
    for dtype in ALL:
        x = special(dtype)
        if x.dtype.kind in "iu":
            x = x[(x >= 0) & (x < 8)]  # beyond, shifts and powers are left open
        if name in ("floor_divide", "remainder") and x.dtype.kind in "iu":
            x = x[x > 0]
        if "shift" in name and x.dtype.kind not in "iu":
            continue
        # 0.25 and not 0.5: NumPy 2.3 changed what np.power gives for the exponent 0.5 at -0.0 and -inf
        number = {"b": True, "i": 3, "u": 3, "f": 0.25, "c": 0.5j}[x.dtype.kind]
        compared += [compare(name, x[:, None], x), compare(name, x, number), compare(name, number, x)]
    assert any(compared)


@pytest.mark.parametrize("name", PAIRS)
def test_types_are_promoted_as_in_the_reference(name: str) -> None:
    """Two dtypes meet in the dtype that the standard's tables give."""
    kinds = [(one, other) for one in ALL for other in ALL if one != other]
    compared = [compare(name, np.ones(1, one), np.ones(1, other)) for one, other in kinds]
    assert any(compared) or name in ("logical_and", "logical_or", "logical_xor")


@pytest.mark.parametrize("one", ALL)
def test_result_type_is_that_of_the_reference(one: str) -> None:
    """`result_type` of dtypes, arrays and Python numbers is the reference's wherever that has one."""
    for other in [*map(DType, ALL), True, 1, 1.5, 1j]:
        try:
            expected = strict.result_type(converted(DType(one), strict), converted(other, strict))
        except TypeError:
            continue
        assert xp.result_type(converted(DType(one), xp), converted(other, xp)) == expected._np_dtype
        assert xp.result_type(xp.ones(2, dtype=one), converted(other, xp)) == expected._np_dtype


@pytest.mark.parametrize("dtype", ALL)
def test_limits_are_those_of_the_reference(dtype: str) -> None:
    """`finfo` and `iinfo` have the reference's numbers, as Python's, for dtypes and arrays; other kinds are refused."""
    asked = "finfo" if dtype[0] in "fc" else "iinfo" if dtype[0] in "iu" else None
    if asked is None:
        for function in (xp.finfo, xp.iinfo):
            with pytest.raises(gt.DtypeError, match="bool"):
                function(xp.bool)
        return
    ours, theirs = getattr(xp, asked)(getattr(xp, dtype)), getattr(strict, asked)(getattr(strict, dtype))
    names = ["bits", "max", "min", *(["eps", "smallest_normal"] if asked == "finfo" else [])]
    assert [getattr(ours, name) for name in names] == [getattr(theirs, name) for name in names]
    assert {type(getattr(ours, name)) for name in names} <= {int, float}
    assert getattr(xp, asked)(xp.ones(1, dtype=dtype)) == ours
    assert ours.dtype == theirs.dtype._np_dtype


def test_info_describes_the_namespace() -> None:
    """Capabilities, devices and dtypes are the reference's, but for the devices that only it pretends to have."""
    ours, theirs = xp.__array_namespace_info__(), strict.__array_namespace_info__()
    assert ours.capabilities() == theirs.capabilities()
    assert (ours.default_device(), ours.devices()) == ("cpu", ["cpu"])
    named = {kind: dtype._np_dtype for kind, dtype in theirs.default_dtypes().items()}
    assert ours.default_dtypes(device="cpu") == named
    for kind in [None, "bool", "numeric", "integral", ("signed integer", "complex floating")]:
        assert set(ours.dtypes(kind=kind)) == set(theirs.dtypes(kind=kind))
    with pytest.raises(ValueError, match="one of 'bool'"):
        ours.dtypes(kind="string")
    assert [xp.e, xp.pi, xp.inf, xp.newaxis] == [strict.e, strict.pi, strict.inf, None]
    assert np.isnan(xp.nan)
    assert xp.__array_api_version__ == "2024.12"


DIFFERENTIABLE = [
    *["abs", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin"],
    *["acos", "atan", "asinh", "atanh", "sqrt", "square", "negative", "positive", "reciprocal", "conj", "real"],
    *["sum", "prod", "mean", "var", "std", "max", "min", "sort", "cumulative_sum", "cumulative_prod", "diff", "flip"],
    *["tril", "matrix_transpose", "linalg.det", "linalg.inv", "linalg.svdvals", "linalg.vector_norm", "linalg.trace"],
    *["linalg.cholesky", "linalg.matrix_norm", "linalg.eigvalsh", "linalg.pinv", "linalg.diagonal", "fft.rfft"],
]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_flow_through(name: str) -> None:
    """A tracked tensor stays tracked, and its gradient is that of finite differences."""
    _, function = FUNCTIONS[name]
    assert function is not None
    kwargs = {"axis": 0} if "cumulative" in name else {}

    def scalar(x: Any) -> Any:
        return xp.sum(xp.abs(function((x + xp.matrix_transpose(x)) / 2, **kwargs)) ** 2)

    assert gt.gradcheck(scalar, gt.tensor([[0.61, 0.07], [0.13, 0.44]]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_function_for_any_library_is_differentiated(dtype: str) -> None:
    """Code written for the standard runs on tracked tensors in their dtype, and its gradient comes back in it."""

    def normalised(x: Any) -> Any:
        namespace = x.__array_namespace__()
        y = namespace.exp(x - namespace.max(x, axis=-1, keepdims=True))
        return namespace.sum(namespace.log(y / namespace.sum(y, axis=-1, keepdims=True))[:, 0])

    x = gt.tensor([[1.0, 2.0], [0.5, -1.0]], dtype=dtype)
    gradient = gt.grad(normalised)(x)
    assert gradient.dtype == x.dtype
    np.testing.assert_allclose(gradient.numpy()[:, 0], 1 / (1 + np.exp(x.numpy()[:, 0] - x.numpy()[:, 1])), rtol=1e-6)
