"""TensorFlow's operations by the names of gradtape's table: name, kind, which inputs are operands, and parameters.

An operation without a row keeps its own name, and all its floating point inputs are operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Attributes = Mapping[str, Any]
Constants = Callable[[int], Any]
"""The value of an input, by its index, as a list or a number; None if it is not known."""
Parameters = Callable[[Attributes, Constants, Sequence[int]], dict[str, Any]]
"""From attributes, inputs and the shape of the first operand to the parameters of gradtape's operation."""


class Row(NamedTuple):
    """What an operation of TensorFlow is called in gradtape's table."""

    name: str
    kind: str = "elementwise"
    operands: tuple[int, ...] | None = None  # indices of the inputs that are operands; None for all
    parameters: Parameters | None = None


def _axes(given: Any, rank: int) -> tuple[int, ...] | None:
    if given is None:
        return None
    axes = given if isinstance(given, list) else [given]
    return tuple(axis % rank if rank else axis for axis in axes)


def _reduction(attributes: Attributes, constant: Constants, shape: Sequence[int]) -> dict[str, Any]:
    axes = _axes(constant(1), len(shape))
    whole = axes is not None and len({*axes}) == len(shape)
    return {"axis": None if whole else axes, "keepdims": bool(attributes.get("keep_dims"))}


def _last_axis(attributes: Attributes, constant: Constants, shape: Sequence[int]) -> dict[str, Any]:
    return {"axis": (len(shape) - 1,)}


def _permutation(attributes: Attributes, constant: Constants, shape: Sequence[int]) -> dict[str, Any]:
    given = constant(1)
    return {"axes": None if given is None else tuple(given)}


def _new_shape(attributes: Attributes, constant: Constants, shape: Sequence[int]) -> dict[str, Any]:
    given = constant(1)
    return {} if given is None else {"shape": tuple(given)}


def _index(attributes: Attributes, constant: Constants, shape: Sequence[int]) -> dict[str, Any]:
    """The index of `x[...]`, from the masks of StridedSlice."""
    begin, end, step = constant(1), constant(2), constant(3)
    if begin is None or end is None or step is None:
        return {"index": ()}
    masks = {name: int(attributes.get(f"{name}_mask") or 0) for name in ("begin", "end", "ellipsis", "new_axis")}
    shrinks = int(attributes.get("shrink_axis_mask") or 0)
    index: list[Any] = []
    for k in range(len(begin)):
        bit = 1 << k
        if masks["ellipsis"] & bit:
            index.append(...)
        elif masks["new_axis"] & bit:
            index.append(None)
        elif shrinks & bit:
            index.append(begin[k])
        else:
            first = None if masks["begin"] & bit else begin[k]
            last = None if masks["end"] & bit else end[k]
            index.append(slice(first, last, None if step[k] == 1 else step[k]))
    return {"index": tuple(index)}


def _added_axis(attributes: Attributes, constant: Constants, shape: Sequence[int]) -> dict[str, Any]:
    axis = constant(1)
    if axis is None:
        return {"index": (..., None)}
    rank = len(shape) + 1
    return {"index": tuple(None if k == axis % rank else slice(None) for k in range(rank))}


def _einsum(attributes: Attributes, constant: Constants, shape: Sequence[int]) -> dict[str, Any]:
    return {"subscripts": _text(attributes.get("equation"))}


def _transposes(attributes: Attributes, constant: Constants, shape: Sequence[int]) -> dict[str, Any]:
    """Which operands of a product are transposed by it."""
    flags = (("transpose_a", "adj_x"), ("transpose_b", "adj_y"))
    given = tuple(any(attributes.get(name) for name in names) for names in flags)
    return {"transposed": given} if any(given) else {}


def _text(given: Any) -> str:
    return given.decode() if isinstance(given, bytes) else str(given or "")


def _joined_axis(attributes: Attributes, constant: Constants, shape: Sequence[int]) -> dict[str, Any]:
    axis = constant(-1)
    return {"axis": 0 if axis is None else axis}


def _stacked_axis(attributes: Attributes, constant: Constants, shape: Sequence[int]) -> dict[str, Any]:
    return {"axis": int(attributes.get("axis") or 0)}


_BINARY = {
    "Add": "add", "AddV2": "add", "Sub": "subtract", "Mul": "multiply", "RealDiv": "divide", "Div": "divide",
    "DivNoNan": "divide", "Pow": "power", "Maximum": "maximum", "Minimum": "minimum", "MulNoNan": "multiply",
    "SquaredDifference": "squared_difference", "Atan2": "arctan2", "FloorDiv": "floor_divide", "Xdivy": "divide",
    "Xlogy": "xlogy", "Xlog1py": "xlog1py", "FloorMod": "remainder",
    "Less": "less", "LessEqual": "less_equal", "Greater": "greater", "GreaterEqual": "greater_equal",
    "Equal": "equal", "NotEqual": "not_equal", "LogicalAnd": "logical_and", "LogicalOr": "logical_or",
}  # fmt: skip
_UNARY = {
    "Neg": "negative", "Exp": "exp", "Expm1": "expm1", "Log": "log", "Log1p": "log1p", "Sqrt": "sqrt",
    "Rsqrt": "rsqrt", "Square": "square", "Abs": "absolute", "Sigmoid": "sigmoid", "Tanh": "tanh", "Relu": "relu",
    "Relu6": "relu6", "Softplus": "softplus", "Softsign": "softsign", "Elu": "elu", "Selu": "selu",
    "LeakyRelu": "leaky_relu", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "arcsin", "Acos": "arccos",
    "Atan": "arctan", "Sinh": "sinh", "Cosh": "cosh", "Erf": "erf", "Erfc": "erfc", "Reciprocal": "reciprocal",
    "Inv": "reciprocal", "Round": "round", "Rint": "rint", "Floor": "floor", "Ceil": "ceil", "Sign": "sign",
    "IsNan": "isnan", "IsInf": "isinf", "IsFinite": "isfinite", "LogicalNot": "logical_not", "Lgamma": "gammaln",
    "Digamma": "digamma", "Acosh": "arccosh", "Asinh": "arcsinh", "Atanh": "arctanh",
}  # fmt: skip
_FIRST = (0,)

TABLE: dict[str, Row] = {
    **{theirs: Row(ours) for theirs, ours in {**_BINARY, **_UNARY}.items()},
    **{
        theirs: Row(ours, "linear" if ours in ("sum", "mean") else "general", _FIRST, _reduction)
        for theirs, ours in {
            "Sum": "sum", "Mean": "mean", "Prod": "prod", "Max": "max", "Min": "min", "All": "all", "Any": "any",
            "EuclideanNorm": "length", "L2Loss": "l2_loss",
        }.items()
    },
    "MatMul": Row("matmul", "multilinear", None, _transposes),
    "BatchMatMulV2": Row("matmul", "multilinear", None, _transposes),
    "BatchMatMulV3": Row("matmul", "multilinear", None, _transposes),
    "BatchMatMul": Row("matmul", "multilinear", None, _transposes),
    "Einsum": Row("einsum", "multilinear", None, _einsum),
    "BiasAdd": Row("add", "linear"),
    "Softmax": Row("softmax", "general", None, _last_axis),
    "LogSoftmax": Row("log_softmax", "general", None, _last_axis),
    "Reshape": Row("reshape", "linear", _FIRST, _new_shape),
    "Squeeze": Row("reshape", "linear", _FIRST),
    "ExpandDims": Row("getitem", "linear", _FIRST, _added_axis),
    "StridedSlice": Row("getitem", "linear", _FIRST, _index),
    "Slice": Row("getitem", "linear", _FIRST),
    "GatherV2": Row("gather", "linear", _FIRST),
    "GatherNd": Row("gather", "linear", _FIRST),
    "ResourceGather": Row("gather", "linear", _FIRST),
    "Transpose": Row("transpose", "linear", _FIRST, _permutation),
    "SelectV2": Row("where", "elementwise"),
    "Select": Row("where", "elementwise"),
    "Identity": Row("copy", "linear", _FIRST),
    "Cast": Row("astype", "linear", _FIRST),
    "BroadcastTo": Row("broadcast_to", "linear", _FIRST, _new_shape),
    "Tile": Row("tile", "linear", _FIRST),
    "Fill": Row("full", "linear", (1,)),
    "Pad": Row("pad", "linear", _FIRST),
    "PadV2": Row("pad", "linear", _FIRST),
    "MirrorPad": Row("pad", "linear", _FIRST),
    "Cumsum": Row("cumsum", "linear", _FIRST),
    "Cumprod": Row("cumprod", "general", _FIRST),
    "ReverseV2": Row("flip", "linear", _FIRST),
    "ConcatV2": Row("concatenate", "linear", None, _joined_axis),
    "Pack": Row("stack", "linear", None, _stacked_axis),
    "ClipByValue": Row("clip", "elementwise", _FIRST),
    "Conv2D": Row("convolution", "multilinear"),
    "Conv3D": Row("convolution", "multilinear"),
    "DepthwiseConv2dNative": Row("convolution", "multilinear"),
    "MatrixInverse": Row("inv", "general"),
    "Cholesky": Row("cholesky", "general"),
    "AddN": Row("add_n", "linear"),
    "StopGradient": Row("stop_gradient", "linear"),
    "PreventGradient": Row("stop_gradient", "linear"),
    "ArgMax": Row("argmax", "constant", _FIRST),
    "ArgMin": Row("argmin", "constant", _FIRST),
}  # fmt: skip

ELEMENTWISE_PAIRS = frozenset(_BINARY)
"""Operations of two operands that broadcast."""

STEPS = {
    "Round": "round", "Rint": "rint", "Floor": "floor", "Ceil": "ceil", "FloorDiv": "floor_divide",
    "ArgMax": "argmax", "ArgMin": "argmin",
    **{name: _BINARY[name] for name in ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual")},
    "IsNan": "isnan", "IsInf": "isinf", "IsFinite": "isfinite", "Where": "nonzero",
}  # fmt: skip
"""Operations for which TensorFlow has no gradient: a value leaves the tape there."""

POSITIONS = {"TopKV2": "argsort", "UniqueV2": "unique"}
"""Operations whose results are values and positions, by the name of what gives the positions."""

STRUCTURAL = frozenset({"Shape", "Size", "Rank", "ShapeN", "ZerosLike", "OnesLike", "BroadcastGradientArgs"})
"""Operations that read no values of their operand."""

READS = frozenset({"ReadVariableOp"})
ASSIGNMENTS = {
    "AssignVariableOp": "Variable.assign",
    "AssignAddVariableOp": "Variable.assign_add",
    "AssignSubVariableOp": "Variable.assign_sub",
    "ResourceStridedSliceAssign": "Variable.assign",
    "ResourceScatterUpdate": "Variable.assign",
    "ResourceScatterAdd": "Variable.assign_add",
    "ResourceScatterSub": "Variable.assign_sub",
    "ResourceScatterNdUpdate": "Variable.assign",
    "ResourceScatterNdAdd": "Variable.assign_add",
}
ASSIGNED_INPUTS = {
    "ResourceStridedSliceAssign": 4,
    **dict.fromkeys(("ResourceScatterUpdate", "ResourceScatterAdd", "ResourceScatterSub"), 2),
    **dict.fromkeys(("ResourceScatterNdUpdate", "ResourceScatterNdAdd"), 2),
}
"""The input that is written, where it is not the second."""


__all__ = [
    "ASSIGNED_INPUTS",
    "ASSIGNMENTS",
    "ELEMENTWISE_PAIRS",
    "POSITIONS",
    "READS",
    "STEPS",
    "STRUCTURAL",
    "TABLE",
    "Row",
]
