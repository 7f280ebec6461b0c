"""The simplest layers: dense and bilinear maps, embeddings, dropout, flattening, functions as layers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import Op, argument_error, as_value
from gradtape.nn import functional, init
from gradtape.nn.init import Initialiser
from gradtape.nn.module import Module

Generator = np.random.Generator


def checked_size(layer: str, name: str, given: Any, least: int = 1) -> int:
    """`given` as an integer of at least `least`."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= least:
        return int(given)
    raise argument_error(OperandError, f"{layer}: {name}={given!r}.", f"an integer of at least {least}")


def fan_in_uniform(fan_in: int) -> Initialiser:
    """Uniform between -1 / sqrt(fan_in) and its opposite: what dense layers and convolutions begin with."""
    bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
    return init.uniform(-bound, bound)


class Linear(Module):
    """x W^T + b, with a weight of shape (out_features, in_features). `Dense` is the same layer by another name.

    Begins with numbers uniform within 1 / sqrt(in_features), unless `weight_init` and `bias_init` say otherwise.

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.Linear(3, 2, rng=np.random.default_rng(0))
    >>> layer, layer(np.ones((5, 3), np.float32)).shape
    (Linear(3, 2), (5, 2))
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        weight_init: Initialiser | None = None,
        bias_init: Initialiser | None = None,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        name = type(self).__name__
        self.in_features = checked_size(name, "in_features", in_features, 0)
        self.out_features = checked_size(name, "out_features", out_features, 0)
        first = fan_in_uniform(in_features)
        self.declare("weight", (out_features, in_features), weight_init or first, dtype, rng)
        if bias:
            self.declare("bias", (out_features,), bias_init or first, dtype, rng)
        else:
            self.bias = None

    def forward(self, x: Any) -> Any:
        """`x @ weight.T + bias`; raises with an edit if the last axis of `x` is not `in_features` long."""
        x = as_value(x)
        if not x.ndim or x.shape[-1] != self.in_features:
            raise self._refused(x)
        return functional.linear(x, self.weight, self.bias)

    def _refused(self, x: Any) -> Exception:
        from gradtape.extend import feature_count_fixes

        given = x.shape
        name, features = type(self).__name__, given[-1] if given else 0
        error = argument_error(
            ShapeError,
            f"{name}: an input of shape {given} has {features} features (its last axis), and {self!r} takes "
            f"{self.in_features}.",
            f"{name}({features}, {self.out_features})" if given else "an array with an axis of features",
        )
        offered = feature_count_fixes(x, self.in_features)
        return ShapeError(error.problem.with_(fixes=offered)) if offered else error

    def extra_repr(self) -> str:
        """The numbers of features, and whether there is no bias."""
        return f"{self.in_features}, {self.out_features}" + ("" if "bias" in self._declared else ", bias=False")


class Dense(Linear):
    """`Linear` by its other name, which it prints and has in messages.

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.Dense(3, 2, rng=np.random.default_rng(0))
    >>> layer, isinstance(layer, gt.nn.Linear)
    (Dense(3, 2), True)
    """


class Bilinear(Module):
    """x1^T W x2 + b, with a weight of shape (out_features, in1_features, in2_features).

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.Bilinear(3, 4, 2, rng=np.random.default_rng(0))
    >>> layer(np.ones((5, 3), np.float32), np.ones((5, 4), np.float32)).shape
    (5, 2)
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.sizes = (
            checked_size("Bilinear", "in1_features", in1_features),
            checked_size("Bilinear", "in2_features", in2_features),
            checked_size("Bilinear", "out_features", out_features),
        )
        first = fan_in_uniform(in1_features)
        self.declare("weight", (out_features, in1_features, in2_features), first, dtype, rng)
        if bias:
            self.declare("bias", (out_features,), first, dtype, rng)
        else:
            self.bias = None

    def forward(self, x1: Any, x2: Any) -> Any:
        """`x1^T W_k x2 + bias_k` for each output feature k."""
        return functional.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The numbers of features of both inputs and of the output."""
        return ", ".join(map(str, self.sizes))


class Embedding(Module):
    """A row of numbers for each of `num_embeddings` labels; the row `padding_idx` is zero and is not trained.

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.Embedding(10, 3, rng=np.random.default_rng(0))
    >>> layer(np.array([[1, 2], [4, 5]])).shape
    (2, 2, 3)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        weight_init: Initialiser | None = None,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        rows = checked_size("Embedding", "num_embeddings", num_embeddings)
        width = checked_size("Embedding", "embedding_dim", embedding_dim)
        if padding_idx is not None and not -rows <= padding_idx < rows:
            raise argument_error(
                OperandError, f"Embedding: padding_idx={padding_idx!r} of {rows} rows.", f"{-rows} to {rows - 1}"
            )
        self.sizes = (rows, width)
        self.padding_idx = padding_idx
        self.declare("weight", (rows, width), partial(_padded, weight_init or init.normal(), padding_idx), dtype, rng)

    def forward(self, labels: Any) -> Any:
        """The row of the table for each label."""
        return functional.embedding(labels, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """The size of the table, and the label whose row gets no gradient."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.sizes[0]}, {self.sizes[1]}{padding}"


def _padded(initialiser: Initialiser, padding: int | None, rng: Any, shape: Any, dtype: Any = np.float32) -> Any:
    """What `initialiser` gives, with zeros in the row `padding`."""
    weight = initialiser(rng, shape, dtype)
    if padding is not None:
        weight[padding] = 0
    return weight


class Identity(Module):
    """The input itself.

    >>> import gradtape as gt
    >>> gt.nn.Identity()(gt.tensor([1.0]))
    Tensor([1.])
    """

    def forward(self, x: Any) -> Any:
        """`x` itself."""
        return x


class Lambda(Module):
    """A function as a layer.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Lambda(lambda x: x * 2)(gt.tensor([1.0]))
    Tensor([2.])
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def forward(self, *args: Any) -> Any:
        """The function of the arguments."""
        return self.function(*args)

    def extra_repr(self) -> str:
        """The name of the function."""
        return str(getattr(self.function, "__name__", self.function))


class Flatten(Module):
    """The axes from `start_axis` to `end_axis` as one.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Flatten()(np.ones((2, 3, 4))).shape
    (2, 12)
    """

    def __init__(self, start_axis: int = 1, end_axis: int = -1) -> None:
        self.start_axis, self.end_axis = start_axis, end_axis

    def forward(self, x: Any) -> Any:
        """`x` with the axes from `start_axis` to `end_axis` joined into one."""
        x = as_value(x)
        rank = max(x.ndim, 1)
        if not (-rank <= self.start_axis < rank and -rank <= self.end_axis < rank):
            raise argument_error(
                OperandError,
                f"Flatten: axes {self.start_axis} to {self.end_axis} of an array of shape {x.shape}.",
                f"axes from {-rank} to {rank - 1}",
            )
        first, last = self.start_axis % rank, self.end_axis % rank
        if not x.ndim:
            return x.reshape((1,))
        together = math.prod(x.shape[first : last + 1])
        return x.reshape((*x.shape[:first], together, *x.shape[last + 1 :]))

    def extra_repr(self) -> str:
        """The first and the last axis that are joined."""
        return f"start_axis={self.start_axis}, end_axis={self.end_axis}"


class Unflatten(Module):
    """One axis as several, of the lengths in `shape`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Unflatten(1, (3, 4))(np.ones((2, 12))).shape
    (2, 3, 4)
    """

    def __init__(self, axis: int, shape: tuple[int, ...]) -> None:
        self.axis, self.shape = axis, tuple(shape)

    def forward(self, x: Any) -> Any:
        """`x` with one axis divided into several."""
        x = as_value(x)
        axis = self.axis % x.ndim
        return x.reshape((*x.shape[:axis], *self.shape, *x.shape[axis + 1 :]))

    def extra_repr(self) -> str:
        """The axis and the lengths that it is divided into."""
        return f"{self.axis}, {self.shape}"


class Dropout(Module):
    """While training, each element is 0 with probability `p`, and the others grow by 1 / (1 - p).

    Draws from `rng`, which `model.initialise(rng)` also gives.

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.Dropout(0.25, rng=np.random.default_rng(0))
    >>> np.unique(layer(np.ones(100))).round(4), layer.eval()(np.ones(2))
    (array([0.    , 1.3333]), array([1., 1.]))
    """

    _function: ClassVar[Callable[..., Any]] = staticmethod(functional.dropout)

    def __init__(self, p: float = 0.5, *, rng: Generator | None = None) -> None:
        if not isinstance(p, int | float) or not 0 <= p <= 1:
            raise argument_error(OperandError, f"{type(self).__name__}: p={p!r}.", "a probability between 0 and 1")
        self.p = p
        self.rng = rng

    def forward(self, x: Any) -> Any:
        """`x` with elements set to zero at random while training, and the rest scaled up; else `x` itself."""
        if self.training and self.p and self.rng is None:
            raise argument_error(
                OperandError,
                f"{type(self).__name__}: it draws at random while training, and has no generator.",
                f"rng=rng for {type(self).__name__}, model.initialise(rng), apply(..., rng=rng), or model.eval()",
            )
        return type(self)._function(x, self.p, self.training, self.rng)

    def extra_repr(self) -> str:
        """The probability of a zero."""
        return f"p={self.p}"


class Dropout1d(Dropout):
    """`Dropout` of whole channels of (examples, channels, length).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Dropout1d(rng=np.random.default_rng(0))(np.ones((2, 3, 4))).shape
    (2, 3, 4)
    """

    _function = staticmethod(functional.dropout1d)


class Dropout2d(Dropout):
    """`Dropout` of whole channels of (examples, channels, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Dropout2d(rng=np.random.default_rng(0))(np.ones((2, 3, 4, 4))).shape
    (2, 3, 4, 4)
    """

    _function = staticmethod(functional.dropout2d)


class Dropout3d(Dropout):
    """`Dropout` of whole channels of (examples, channels, depth, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Dropout3d(rng=np.random.default_rng(0))(np.ones((2, 3, 4, 4, 4))).shape
    (2, 3, 4, 4, 4)
    """

    _function = staticmethod(functional.dropout3d)


class Wrapped(Module):
    """A function of `gt.nn.functional` as a layer: what it takes behind its arrays is given when the layer is made."""

    _function: ClassVar[Callable[..., Any]]
    _arrays: ClassVar[int] = 1

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Have a layer show the options of its function as its signature."""
        super().__init_subclass__(**kwargs)
        if "__init__" not in vars(cls) and hasattr(cls, "_function"):
            named = [option for option in cls._options() if option.kind is not option.VAR_KEYWORD]
            cls.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]

    @classmethod
    def _options(cls) -> list[inspect.Parameter]:
        """What the function takes behind its arrays: of an operation nothing, as `out=` is not for layers."""
        if isinstance(cls._function, Op):
            return []
        return list(inspect.signature(cls._function).parameters.values())[cls._arrays :]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        signature = inspect.signature(type(self)._function)
        named = self._options()
        try:
            bound = signature.replace(parameters=named).bind(*args, **kwargs)
        except TypeError as error:
            accepted = ", ".join(parameter.name for parameter in named) or "no arguments"
            raise argument_error(OperandError, f"{type(self).__name__}: {error}.", f"{accepted}") from None
        self.options: dict[str, Any] = dict(bound.arguments)

    def forward(self, *arrays: Any) -> Any:
        """The wrapped function with the options of the layer."""
        return type(self)._function(*arrays, **self.options)

    def extra_repr(self) -> str:
        """The options that are single values."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items() if np.ndim(value) == 0)
