"""`torch.distributions.Distribution`: shapes, arguments and draws, which all distributions share."""

from __future__ import annotations

from typing import Any

import gradtape as gt
from gradtape_standins.torch import creation, dtypes, joining, methods
from gradtape_standins.torch.distributions.constraints import Constraint
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.random import numpy_generator
from gradtape_standins.torch.size_and_device import Size
from gradtape_standins.torch.tensor import Tensor, unwrap, wrap


def computed(function: Any, *args: Any, label: str = "SubBackward0", **kwargs: Any) -> Any:
    """What a function of gradtape's values returns, as a tensor, for arguments that are tensors."""
    with translating():
        return wrap(function(*unwrap(args), **unwrap(kwargs)), label)


def broadcast_all(*values: Any) -> list[Any]:
    """Numbers and tensors as tensors of one shape; numbers take the type of the tensors."""
    known = next((value for value in values if isinstance(value, Tensor)), None)
    kind = dtypes.get_default_dtype() if known is None else known.dtype
    tensors = [v if isinstance(v, Tensor) else creation.tensor(v, dtype=kind) for v in values]
    return list(joining.broadcast_tensors(*tensors))


class Distribution:
    """A distribution: `sample`, `log_prob` and what is known about it.

    `batch_shape` is the shape of the parameters, `event_shape` that of one draw.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: dict[str, Constraint] = {}  # noqa: RUF012  (replaced, never written to)
    _validate_args = True

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_arguments()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether parameters and values are checked, unless a distribution is told otherwise."""
        Distribution._validate_args = value

    def _check_arguments(self) -> None:
        for name, constraint in self.arg_constraints.items():
            given = self.__dict__.get(name)
            if given is None:
                continue
            if not bool(methods.FUNCTIONS["all"](constraint.check(given))):
                raise ValueError(
                    f"Expected parameter {name} ({type(given).__name__} of shape {tuple(given.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values.\n"
                    "  fix: a free parameter becomes positive by torch.nn.functional.softplus(x) or torch.exp(x), and "
                    "a\n       probability by torch.sigmoid(x) or torch.softmax(x, -1)"
                )

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        self._check_shape(value)
        inside = self.support.check(value)
        if not bool(methods.FUNCTIONS["all"](inside)):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the support "
                f"({self.support!r}) of the distribution {self!r}, but found invalid values"
            )

    def _check_shape(self, value: Tensor) -> None:
        events = len(self.event_shape)
        behind = tuple(value.shape)[value.ndim - events :] if events else ()
        if behind != tuple(self.event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {tuple(value.shape)} vs {self.event_shape}."
            )
        pairs = zip(reversed(tuple(value.shape)), reversed((*self.batch_shape, *self.event_shape)))
        if any(a not in (1, b) and b != 1 for a, b in pairs):
            raise ValueError(
                "Value is not broadcastable with batch_shape+event_shape: "
                f"{tuple(value.shape)} vs {(*self.batch_shape, *self.event_shape)}."
            )

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a single draw."""
        return self._event_shape

    @property
    def support(self) -> Constraint:
        """The values that have a density."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The likeliest value."""
        raise NotImplementedError(f"{type(self).__name__} does not implement mode")

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return methods.FUNCTIONS["sqrt"](self.variance)

    def _extended_shape(self, sample_shape: Any = ()) -> tuple[int, ...]:
        return (*sample_shape, *self.batch_shape, *self.event_shape)

    def _drawn(self, shape: tuple[int, ...], rng: Any) -> Any:
        """Draws of a shape, that of events included, as gradtape's value."""
        raise NotImplementedError

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draws that move with the parameters: gradients pass."""
        if not self.has_rsample:
            raise NotImplementedError(
                f"{type(self).__name__}: draws do not move with the parameters, so there is no rsample.\n"
                "  fix: .sample() and the score: (-dist.log_prob(draw) * reward).backward()"
            )
        drawn: Tensor = computed(
            self._drawn, self._extended_shape(sample_shape), rng=numpy_generator(), label="AddBackward0"
        )
        return drawn

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draws, without gradients."""
        with gt.no_grad():
            drawn: Tensor = computed(self._drawn, self._extended_shape(sample_shape), rng=numpy_generator())
        kept: Tensor = drawn.detach().clone()
        return kept

    def sample_n(self, n: int) -> Tensor:
        """`n` draws."""
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density (or of the probability) of a value."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of a value up to this one."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The value that is not exceeded with this probability."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The mean of minus the logarithm of the density."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """exp of the entropy."""
        return methods.FUNCTIONS["exp"](self.entropy())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that there are."""
        raise NotImplementedError

    def _expandable(self) -> dict[str, int]:
        """The parameters, and how many axes of each belong to a single draw."""
        return dict.fromkeys(self.arg_constraints, 0)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with parameters of a larger shape."""
        shape = tuple(batch_shape)
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        for name, axes in self._expandable().items():
            held = made.__dict__.get(name)
            if isinstance(held, Tensor):
                behind = tuple(held.shape)[held.ndim - axes :] if axes else ()
                made.__dict__[name] = held.expand((*shape, *behind))
        made._batch_shape = Size(shape)
        return made

    def __repr__(self) -> str:
        shown = [name for name in self.arg_constraints if isinstance(self.__dict__.get(name), Tensor)]
        texts = [f"{n}: {h if (h := self.__dict__[n]).numel() == 1 else h.size()}" for n in shown]
        return f"{type(self).__name__}({', '.join(texts)})"


class Centred(Distribution):
    """Distributions around `loc`, which is their mean and their likeliest value."""

    loc: Any
    mean = property(lambda self: self.loc, doc="The location.")
    mode = property(lambda self: self.loc, doc="The location.")


class ExponentialFamily(Distribution):
    """Distributions whose density is an exponential of what is known of a draw."""
