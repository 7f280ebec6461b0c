"""What the functions of PyTorch are in gradtape's table: the name of the operation, its kind, operands and parameters.

A `TorchFunctionMode` is given each function as an object: `torch.sub`, `Tensor.sub`, `Tensor.__rsub__` and the slot
wrapper of an attribute are different ones. `rule_for` classifies such an object once. A function that is not listed is
recorded under its own name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

# -- what happens to a function

IGNORED, OPERATION, WRITE, DEPARTURE, DETACH, COPY, FACTORY, SETTER, BACKWARD, SWITCH, GRAD = range(11)


class Rule(NamedTuple):
    """How a function of the library is recorded."""

    what: int
    name: str
    kind: str = ""
    order: str = ""  # how its operands are arranged: "reversed", "condition second", "numbers"
    is_random: bool = False
    is_method: bool = False
    own_name: str = ""


_ELEMENTWISE = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "remainder",
    "floor_divide",
    "maximum",
    "minimum",
    "arctan2",
    "hypot",
    "negative",
    "positive",
    "abs",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "square",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "sigmoid",
    "log_sigmoid",
    "relu",
    "relu6",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "gelu",
    "silu",
    "mish",
    "softplus",
    "softsign",
    "hardtanh",
    "hardsigmoid",
    "hardswish",
    "hardshrink",
    "softshrink",
    "tanhshrink",
    "threshold",
    "clip",
    "erf",
    "erfc",
    "erfinv",
    "lgamma",
    "digamma",
    "round",
    "floor",
    "ceil",
    "trunc",
    "frac",
    "sign",
    "where",
    "lerp",
    "addcmul",
    "addcdiv",
    "xlogy",
    "logaddexp",
    "dropout",
    "sinc",
    "nan_to_num",
    "logit",
]
_LINEAR = [
    "sum",
    "mean",
    "reshape",
    "transpose",
    "getitem",
    "concatenate",
    "stack",
    "broadcast_to",
    "repeat",
    "tile",
    "flip",
    "roll",
    "pad",
    "cumsum",
    "diff",
    "trace",
    "diagonal",
    "astype",
    "clone",
    "contiguous",
    "unfold",
    "fold",
    "as_strided",
    "split",
    "chunk",
    "unbind",
    "tril",
    "triu",
    "embedding",
    "take",
    "expand_dims",
    "upsample",
    "interpolate",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
]
_MULTILINEAR = [
    "matmul",
    "dot",
    "linear",
    "einsum",
    "tensordot",
    "bilinear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "bmm",
    "outer",
]
KINDS = {
    **dict.fromkeys(_ELEMENTWISE, "elementwise"),
    **dict.fromkeys(_LINEAR, "linear"),
    **dict.fromkeys(_MULTILINEAR, "multilinear"),
}

OPERATIONS = {
    "sub": "subtract",
    "rsub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "true_divide": "divide",
    "truediv": "divide",
    "pow": "power",
    "float_power": "power",
    "neg": "negative",
    "mod": "remainder",
    "fmod": "remainder",
    "floordiv": "floor_divide",
    "mm": "matmul",
    "mv": "matmul",
    "bmm": "matmul",
    "absolute": "abs",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "logsigmoid": "log_sigmoid",
    "clamp": "clip",
    "clamp_min": "clip",
    "clamp_max": "clip",
    "special_expit": "sigmoid",
    "expit": "sigmoid",
    "view": "reshape",
    "view_as": "reshape",
    "reshape_as": "reshape",
    "flatten": "reshape",
    "unflatten": "reshape",
    "ravel": "reshape",
    "squeeze": "reshape",
    "unsqueeze": "expand_dims",
    "permute": "transpose",
    "movedim": "transpose",
    "moveaxis": "transpose",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "adjoint": "transpose",
    "t": "transpose",
    "T": "transpose",
    "mT": "transpose",
    "H": "transpose",
    "mH": "transpose",
    "cat": "concatenate",
    "concat": "concatenate",
    "hstack": "concatenate",
    "vstack": "concatenate",
    "select": "getitem",
    "narrow": "getitem",
    "index_select": "getitem",
    "masked_select": "getitem",
    "expand": "broadcast_to",
    "expand_as": "broadcast_to",
    "setitem": "setitem",
    "index_put": "setitem",
    "masked_fill": "where",
    "gather": "take at positions",
    "take_along_dim": "take at positions",
    "linalg_norm": "norm",
    "linalg_vector_norm": "norm",
    "amax": "max",
    "amin": "min",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "gumbel_softmax": "gumbel_softmax",
    **dict.fromkeys(
        ("to", "type", "float", "double", "half", "bfloat16", "type_as", "cpu", "cuda", "int", "long", "short", "bool",
         "char", "byte", "cfloat", "cdouble"),
        "astype",
    ),
}  # fmt: skip
"""The names that differ: PyTorch's, without underscores for operators and methods in place, and gradtape's."""

CASTS_TO_INTEGER = frozenset({"int", "long", "short", "bool", "char", "byte"})
_IGNORED = frozenset(
    [
        "size",
        "dim",
        "ndimension",
        "stride",
        "numel",
        "nelement",
        "element_size",
        "storage",
        "untyped_storage",
        "storage_offset",
        "data_ptr",
        "get_device",
        "is_contiguous",
        "is_floating_point",
        "is_complex",
        "is_pinned",
        "is_shared",
        "is_same_size",
        "is_set_to",
        "is_signed",
        "is_inference",
        "is_conj",
        "is_neg",
        "is_nonzero",
        "is_tensor",
        "is_storage",
        "__len__",
        "__repr__",
        "__str__",
        "__format__",
        "__hash__",
        "__contains__",
        "__iter__",
        "__dir__",
        "__reversed__",
        "__reduce_ex__",
        "__reduce__",
        "__deepcopy__",
        "__cuda_array_interface__",
        "__dlpack__",
        "__dlpack_device__",
        "register_hook",
        "register_post_accumulate_grad_hook",
        "retain_grad",
        "share_memory_",
        "pin_memory",
        "has_names",
        "refine_names",
        "_is_view",
        "is_leaf",
        "allclose",
        "equal",
        "result_type",
        "can_cast",
        "promote_types",
        "get_default_dtype",
        "finfo",
        "iinfo",
        "broadcast_shapes",
        "_reduce_ex_internal",
        "_typed_storage",
        "dim_order",
        "resize_",
        "resize_as_",
        "set_",
        "rename_",
        "is_distributed",
        "_values",
        "_indices",
        "_nnz",
        "_dimI",
        "_dimD",
        "is_sparse",
        "is_coalesced",
        "coalesce",
        "sparse_dim",
        "dense_dim",
        "crow_indices",
        "col_indices",
        "names_",
        "_make_subclass",
        "as_subclass",
        "broadcast_tensors",
        "record_stream",
        "manual_seed",
        "get_rng_state",
        "set_rng_state",
        "use_deterministic_algorithms",
    ]
)
_DEPARTURES = {
    "item": ".item()",
    "tolist": ".tolist()",
    "numpy": ".numpy()",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "operator.index()",
    "__complex__": "complex()",
    "__array__": "np.asarray()",
}
_RANDOM = frozenset(
    [
        "dropout",
        "dropout1d",
        "dropout2d",
        "dropout3d",
        "alpha_dropout",
        "feature_alpha_dropout",
        "feature_dropout",
        "rrelu",
        "bernoulli",
        "gumbel_softmax",
        "multinomial",
        "normal",
        "poisson",
        "rand_like",
        "randn_like",
        "randint_like",
        "scaled_dot_product_attention",
        "multi_head_attention_forward",
        "fractional_max_pool2d",
        "native_dropout",
        "lstm",
        "gru",
        "rnn_tanh",
        "rnn_relu",
        "_sample_dirichlet",
        "_standard_gamma",
    ]
)
_FACTORIES = frozenset({"tensor", "as_tensor", "asarray", "from_numpy", "scalar_tensor", "new_tensor"})
_SHAPED_FACTORIES = frozenset(
    [
        "zeros",
        "ones",
        "full",
        "empty",
        "rand",
        "randn",
        "randint",
        "randperm",
        "arange",
        "linspace",
        "logspace",
        "eye",
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "rand_like",
        "randn_like",
        "randint_like",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_empty",
        "tril_indices",
        "triu_indices",
    ]
)
_ATTRIBUTE_OPERATIONS = frozenset({"T", "mT", "H", "mH", "real", "imag"})
_NO_WRITES = frozenset({"requires_grad_", "retain_grad_", "share_memory_", "rename_", "resize_", "resize_as_", "set_"})
_OPERATOR_WRITES = frozenset(
    {"__iadd__", "__isub__", "__imul__", "__idiv__", "__itruediv__", "__ipow__", "__imod__", "__ifloordiv__",
     "__setitem__", "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"}
)  # fmt: skip
_BACKWARDS = frozenset({"backward"})


def rule_for(func: Any) -> Rule:
    """How a function that arrives in the mode is recorded.

    >>> import torch
    >>> from gradtape.watching.torch.operations import rule_for
    >>> rule_for(torch.sub).name, rule_for(torch.Tensor.__rsub__).order, rule_for(torch.Tensor.add_).name
    ('subtract', 'reversed', 'add')
    """
    own = str(getattr(func, "__name__", ""))
    owner = getattr(func, "__self__", None)
    if own in ("__get__", "__set__", "__delete__"):
        return _attribute_rule(own, str(getattr(owner, "__name__", "")))
    is_method = hasattr(func, "__objclass__") or str(getattr(func, "__qualname__", "")).startswith(
        ("Tensor.", "TensorBase.", "_TensorBase.")
    )
    if own in _BACKWARDS and is_method:
        return Rule(BACKWARD, own, own_name=own)
    if own == "grad" and getattr(func, "__module__", "") == "torch.autograd":
        return Rule(BACKWARD, own, own_name=own)
    if own in ("_set_grad_enabled", "_inference_mode"):
        return Rule(SWITCH, own, own_name=own)
    if not own or own in _IGNORED or own in ("__class__", "__dict__"):
        return Rule(IGNORED, own, own_name=own)
    if own in _DEPARTURES:
        return Rule(DEPARTURE, _DEPARTURES[own], own_name=own, is_method=True)
    if own == "__bool__":
        return Rule(IGNORED, own, own_name=own)
    if own in ("detach", "detach_", "alias"):
        return Rule(DETACH, "stop_gradient", own_name=own, is_method=is_method)
    if own == "requires_grad_":
        return Rule(SETTER, "requires_grad", own_name=own, is_method=True)
    if own in _FACTORIES:
        return Rule(COPY, own, own_name=own, is_method=is_method)
    if own in _SHAPED_FACTORIES:
        return Rule(FACTORY, own, own_name=own, is_method=is_method)
    is_write = own in _OPERATOR_WRITES or (
        own.endswith("_") and not own.startswith("__") and not own.endswith("__") and own not in _NO_WRITES
    )
    bare = own.strip("_")
    is_reversed = own.startswith("__r") and own.endswith("__") and own not in ("__rshift__", "__round__", "__repr__")
    if own.startswith("__i") and own in _OPERATOR_WRITES:
        bare = bare[1:]
    if is_reversed:
        bare = bare[1:] if bare != "rsub" else "sub"
    is_reversed = is_reversed or own == "rsub"
    name = OPERATIONS.get(bare, bare)
    kind = KINDS.get(name, "")
    order = "reversed" if is_reversed else ""
    if name == "where":
        order = "condition second" if bare == "masked_fill" or is_method else ""
    if kind == "elementwise" and not order:
        order = "numbers"
    return Rule(WRITE if is_write else OPERATION, name, kind, order, bare in _RANDOM, is_method, own)


def _attribute_rule(accessor: str, name: str) -> Rule:
    if accessor == "__set__":
        known = name in ("data", "grad", "requires_grad")
        return Rule(SETTER if known else IGNORED, name, own_name=accessor)
    if accessor == "__get__" and name == "data":
        return Rule(DETACH, ".data", own_name="data", is_method=True)
    if accessor == "__get__" and name == "grad":
        return Rule(GRAD, "grad", own_name="grad", is_method=True)
    if accessor == "__get__" and name in _ATTRIBUTE_OPERATIONS:
        return Rule(OPERATION, OPERATIONS.get(name, name), "linear", own_name=name, is_method=True)
    return Rule(IGNORED, name, own_name=accessor)


# -- operands


class Slot(NamedTuple):
    """Where an operand stands among the arguments of a call: its position or keyword, and the place in a list there."""

    key: int | str
    inner: int | None = None

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The operand."""
        found = args[self.key] if isinstance(self.key, int) else kwargs[self.key]
        return found if self.inner is None else found[self.inner]


def slots_of(rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Slot]:
    """The operands of a call, in the order of gradtape's table; numbers count for elementwise operations."""
    found: list[Slot] = []
    numbers = rule.order in ("numbers", "reversed", "condition second") or rule.name == "where"
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for key, value in given:
        if isinstance(value, torch.Tensor):
            found.append(Slot(key))
        elif numbers and type(value) in (int, float) and len(found) < 3 and (key != "alpha"):
            if rule.kind == "elementwise" and rule.name in _WITH_NUMBERS:
                found.append(Slot(key))
        elif isinstance(value, list | tuple):
            found += [Slot(key, index) for index, each in enumerate(value) if isinstance(each, torch.Tensor)]
    if rule.name == "getitem" or rule.name == "setitem":
        found = [slot for slot in found if slot.key != 1]
    if rule.order == "reversed":
        return found[::-1]
    if rule.order == "condition second" and len(found) == 3:
        if rule.own_name.startswith("masked_fill"):
            return [found[1], found[2], found[0]]
        return [found[1], found[0], found[2]]
    return found


_WITH_NUMBERS = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "power",
        "maximum",
        "minimum",
        "where",
        "remainder",
        "floor_divide",
        "arctan2",
        "xlogy",
    ]
)


# -- parameters


def params_of(rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> dict[str, Any]:
    """The parameters of a call under the names of gradtape's table."""
    name = rule.name
    if name in _REDUCTIONS:
        return _reduction_params(name, rule, args, kwargs)
    if name in ("softmax", "log_softmax", "logsumexp", "cumsum"):
        axis = _argument(args, kwargs, 1, "dim")
        return {"axis": None if axis is None else _axes(axis, args, kwargs)}
    if name == "getitem":
        return {"index": _index(rule, args, kwargs)}
    if name == "setitem":
        return {"index": _as_index(args[1] if len(args) > 1 else ())}
    if name in ("reshape", "broadcast_to"):
        return {"shape": tuple(result.shape) if isinstance(result, torch.Tensor) else ()}
    if name in ("concatenate", "stack"):
        axis = _argument(args, kwargs, 1, "dim")
        return {"axis": axis if isinstance(axis, int) else 0}
    if name == "einsum" and args and isinstance(args[0], str):
        return {"subscripts": args[0].replace(" ", "")}
    if name == "expand_dims":
        return {"axis": _argument(args, kwargs, 1, "dim")}
    return {}


_REDUCTIONS = frozenset(
    [
        "sum",
        "mean",
        "prod",
        "max",
        "min",
        "var",
        "std",
        "median",
        "norm",
        "all",
        "any",
        "nansum",
        "nanmean",
        "argmax",
        "argmin",
    ]
)


def _argument(args: Sequence[Any], kwargs: Mapping[str, Any], position: int, name: str) -> Any:
    if name in kwargs:
        return kwargs[name]
    return args[position] if len(args) > position else None


def _reduction_params(name: str, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    axis = kwargs.get("dim", kwargs.get("axis"))
    given = [value for value in args[1:] if not isinstance(value, torch.Tensor)]
    if axis is None and given and type(given[0]) in (int, tuple, list, torch.Size):
        axis = given[0]
    keep = kwargs.get("keepdim", kwargs.get("keepdims", False))
    if any(value is True for value in given[1:]):
        keep = True
    if name == "norm":  # norm(x, p, dim, keepdim)
        axis, keep = _argument(args, kwargs, 2, "dim"), bool(_argument(args, kwargs, 3, "keepdim"))
    return {"axis": None if axis is None else _axes(axis, args, kwargs), "keepdims": bool(keep)}


def _axes(axis: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, ...]:
    count = next((x.dim() for x in [*args, *kwargs.values()] if isinstance(x, torch.Tensor)), 0)
    listed = [axis] if isinstance(axis, int) else [part for part in axis if isinstance(part, int)]
    return tuple(part % count if count else part for part in listed)


def _index(rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    own = rule.own_name
    if own == "__getitem__":
        return _as_index(args[1])
    axis, count = _argument(args, kwargs, 1, "dim"), args[0].dim() if args else 0
    if own == "select" and isinstance(axis, int) and count:
        return (*[slice(None)] * (axis % count), _argument(args, kwargs, 2, "index"))
    if own == "index_select" and isinstance(axis, int) and count:
        return (*[slice(None)] * (axis % count), _as_index(_argument(args, kwargs, 2, "index"))[0])
    return ()


def _as_index(index: Any) -> tuple[Any, ...]:
    """An index with NumPy arrays for tensors."""
    parts = index if isinstance(index, tuple) else (index,)
    return tuple(
        part.detach().cpu().numpy() if isinstance(part, torch.Tensor) and part.numel() < 1 << 20 else part
        for part in parts
    )


__all__ = ["Rule", "Slot", "params_of", "rule_for", "slots_of"]
