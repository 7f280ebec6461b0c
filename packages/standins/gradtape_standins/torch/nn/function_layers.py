"""Layers that call one function: activations, norms, pooling, dropout, shapes."""

from __future__ import annotations

from typing import Any

from gradtape_standins.torch import creation, dtypes
from gradtape_standins.torch.nn import functional as F
from gradtape_standins.torch.nn.module import Module
from gradtape_standins.torch.nn.parameter import Parameter
from gradtape_standins.torch.shaping import flatten, unflatten

# -- one function with options, which print as `name=value`


class Plain(Module):
    """A layer without parameters: a function of `torch.nn.functional` and its options."""

    _function = ""
    _options: dict[str, Any] = {}  # noqa: RUF012  (it is never changed)
    _shown: tuple[str, ...] = ()
    _passed: tuple[str, ...] | None = None  # the options that the function takes by keyword; all, if None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        names = list(self._options)
        if len(args) > len(names):
            raise TypeError(f"{type(self).__name__}: {len(args)} arguments; {len(names)} are accepted: {names}")
        given = {**dict(zip(names, args)), **kwargs}
        unknown = [name for name in given if name not in self._options]
        if unknown:
            raise TypeError(f"{type(self).__name__}: no argument {unknown[0]!r}; accepted are {names}")
        for name, usual in self._options.items():
            object.__setattr__(self, name, given.get(name, usual))

    def forward(self, input: Any) -> Any:
        """The function of `torch.nn.functional` with the options of the layer."""
        passed = self._options if self._passed is None else self._passed
        return getattr(F, self._function)(input, **{name: getattr(self, name) for name in passed})

    def extra_repr(self) -> str:
        """The options as PyTorch prints them; `inplace` where it is set or always shown."""
        return ", ".join(
            f"{name}={getattr(self, name)}"
            for name in self._shown
            if name != "inplace" or self.inplace or self._shows_inplace
        )

    _shows_inplace = False


def _plain(name: str, function: str, options: dict[str, Any], shown: str = "", passed: str | None = None) -> Any:
    names = tuple(shown.split())
    taken = None if passed is None else tuple(passed.split())
    body = {
        "_function": function,
        "_options": options,
        "_shown": names,
        "_passed": taken,
        "__doc__": f"`torch.nn.functional.{function}` as a layer.",
        "__module__": __name__,
    }
    return type(name, (Plain,), body)


ReLU = _plain("ReLU", "relu", {"inplace": False}, "inplace")
ReLU6 = _plain("ReLU6", "relu6", {"inplace": False}, "inplace")
Sigmoid = _plain("Sigmoid", "sigmoid", {})
Tanh = _plain("Tanh", "tanh", {})
LeakyReLU = _plain("LeakyReLU", "leaky_relu", {"negative_slope": 0.01, "inplace": False}, "negative_slope inplace")
ELU = _plain("ELU", "elu", {"alpha": 1.0, "inplace": False}, "alpha inplace")
CELU = _plain("CELU", "celu", {"alpha": 1.0, "inplace": False}, "alpha inplace")
SELU = _plain("SELU", "selu", {"inplace": False}, "inplace")
SiLU = _plain("SiLU", "silu", {"inplace": False}, "inplace")
Mish = _plain("Mish", "mish", {"inplace": False}, "inplace")
Softsign = _plain("Softsign", "softsign", {})
Tanhshrink = _plain("Tanhshrink", "tanhshrink", {})
Softmax = _plain("Softmax", "softmax", {"dim": None}, "dim")
LogSoftmax = _plain("LogSoftmax", "log_softmax", {"dim": None}, "dim")
Softmin = _plain("Softmin", "softmin", {"dim": None}, "dim")
Softplus = _plain("Softplus", "softplus", {"beta": 1.0, "threshold": 20.0}, "beta threshold")
LogSigmoid = _plain("LogSigmoid", "logsigmoid", {})
Hardsigmoid = _plain("Hardsigmoid", "hardsigmoid", {"inplace": False})
Hardswish = _plain("Hardswish", "hardswish", {"inplace": False})
GLU = _plain("GLU", "glu", {"dim": -1}, "dim")


class RReLU(Plain):
    """`LeakyReLU` with a slope that is drawn anew for each element while training."""

    _function, _shown = "rrelu", ("lower", "upper", "inplace")
    _options = {"lower": 1 / 8, "upper": 1 / 3, "inplace": False}  # noqa: RUF012

    def forward(self, input: Any) -> Any:
        """`F.rrelu`, whose slopes are random while training."""
        return F.rrelu(input, self.lower, self.upper, self.training)


class Softmax2d(Module):
    """`Softmax` over the channels of images."""

    def forward(self, input: Any) -> Any:
        """Softmax over the channels."""
        return F.softmax(input, -3)


class LocalResponseNorm(Plain):
    """Each element over a power of the mean of squares in neighbouring channels."""

    _function = "local_response_norm"
    _options = {"size": None, "alpha": 1e-4, "beta": 0.75, "k": 1.0}  # noqa: RUF012

    def extra_repr(self) -> str:
        """The size without its name, as PyTorch prints it, and the other options."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LPPool2d(Plain):
    """The p-norm of windows of images."""

    _function = "lp_pool2d"
    _options = {"norm_type": None, "kernel_size": None, "stride": None, "ceil_mode": False}  # noqa: RUF012
    _shown = ("norm_type", "kernel_size", "stride", "ceil_mode")


class LPPool1d(LPPool2d):
    """The p-norm of windows of signals."""

    _function = "lp_pool1d"


class GELU(Plain):
    """x times the normal distribution function of x."""

    _function, _options = "gelu", {"approximate": "none"}

    def extra_repr(self) -> str:
        """The kind of approximation."""
        return f"approximate={self.approximate!r}"


class _Numbered(Plain):
    """Prints the values of its options without their names."""

    def extra_repr(self) -> str:
        return ", ".join(str(getattr(self, name)) for name in self._shown)


class Hardshrink(_Numbered):
    """x, and 0 where |x| is at most lambd."""

    _function, _options, _shown = "hardshrink", {"lambd": 0.5}, ("lambd",)


class Softshrink(_Numbered):
    """x moved towards 0 by lambd."""

    _function, _options, _shown = "softshrink", {"lambd": 0.5}, ("lambd",)


class Hardtanh(Plain):
    """x limited to a range."""

    _function, _shown = "hardtanh", ("min_val", "max_val", "inplace")
    _options = {"min_val": -1.0, "max_val": 1.0, "inplace": False}  # noqa: RUF012


class Threshold(Plain):
    """x where it is above a threshold, a number elsewhere."""

    _function, _shown = "threshold", ("threshold", "value", "inplace")
    _options = {"threshold": 0.0, "value": 0.0, "inplace": False}  # noqa: RUF012


class PReLU(Module):
    """x where it is positive, weight * x elsewhere."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, **_: Any) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(creation.full((num_parameters,), init))

    def forward(self, input: Any) -> Any:
        """`F.prelu` with the slopes of the layer."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The number of slopes."""
        return f"num_parameters={self.num_parameters}"


class Identity(Module):
    """What comes in goes out."""

    def forward(self, input: Any) -> Any:
        """The input itself."""
        return input


class Flatten(Module):
    """Several axes as one; all but the first, if nothing is said."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        """The input with the axes from `start_dim` to `end_dim` joined into one."""
        return flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The first and the last axis that are joined."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One axis as several."""

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Any) -> Any:
        """The input with one axis divided into several."""
        return unflatten(input, self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """The axis and the lengths that it is divided into."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


# -- dropout


class Dropout(Module):
    """While training, each element is 0 with probability p, and what is left is divided by 1 - p."""

    _function = "dropout"

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        """The function of the layer, which drops elements while training only."""
        return getattr(F, self._function)(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The probability of a zero, and whether the input is written to."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout1d(Dropout):
    """`Dropout` of whole channels of signals."""

    _function = "dropout1d"


class Dropout2d(Dropout):
    """`Dropout` of whole channels of images."""

    _function = "dropout2d"


class Dropout3d(Dropout):
    """`Dropout` of whole channels of volumes."""

    _function = "dropout3d"


class AlphaDropout(Dropout):
    """Dropout after `SELU`, which keeps mean and variance."""

    _function = "alpha_dropout"


# -- pooling

_POOL = {"kernel_size": None, "stride": None, "padding": 0}
_MAX = {**_POOL, "dilation": 1, "return_indices": False, "ceil_mode": False}
_AVERAGE = {**_POOL, "ceil_mode": False, "count_include_pad": True}


class _Pool(Plain):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.stride is None:
            object.__setattr__(self, "stride", self.kernel_size)


def _pools(kind: str, options: dict[str, Any], shown: str) -> list[Any]:
    made = []
    for rank in (1, 2, 3):
        name = f"{kind}Pool{rank}d"
        body = {
            "_function": f"{kind.lower()}_pool{rank}d",
            "_options": options,
            "_shown": tuple(shown.split()),
            "__doc__": f"The {'largest element' if kind == 'Max' else 'mean'} of each window.",
            "__module__": __name__,
        }
        made.append(type(name, (_Pool,), body))
    return made


MaxPool1d, MaxPool2d, MaxPool3d = _pools("Max", _MAX, "kernel_size stride padding dilation ceil_mode")
AvgPool1d, AvgPool2d, AvgPool3d = _pools("Avg", _AVERAGE, "kernel_size stride padding")


class _Adaptive(Module):
    _function = ""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return getattr(F, self._function)(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


def _adaptive(kind: str) -> list[Any]:
    doc = f"The {'largest element' if kind == 'Max' else 'mean'} of each window, of as many windows as are asked for."
    return [
        type(
            f"Adaptive{kind}Pool{rank}d",
            (_Adaptive,),
            {"_function": f"adaptive_{kind.lower()}_pool{rank}d", "__doc__": doc, "__module__": __name__},
        )
        for rank in (1, 2, 3)
    ]


AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = _adaptive("Avg")
AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d = _adaptive("Max")

# -- norms


class _ChannelNorm(Module):
    _affine = True
    _tracks = True

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool | None = None,
        track_running_stats: bool | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine = self._affine if affine is None else affine
        self.track_running_stats = self._tracks if track_running_stats is None else track_running_stats
        self.register_parameter("weight", Parameter(creation.ones(num_features, dtype=dtype)) if self.affine else None)
        self.register_parameter("bias", Parameter(creation.zeros(num_features, dtype=dtype)) if self.affine else None)
        tracks = self.track_running_stats
        self.register_buffer("running_mean", creation.zeros(num_features, dtype=dtype) if tracks else None)
        self.register_buffer("running_var", creation.ones(num_features, dtype=dtype) if tracks else None)
        count = creation.tensor(0, dtype=dtypes.int64) if tracks else None
        self.register_buffer("num_batches_tracked", count)

    _version = 2

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *lists: Any) -> None:
        """Files of before version 2 have no count of batches: it is taken as it is here."""
        key = f"{prefix}num_batches_tracked"
        if local_metadata.get("version", 1) < 2 and self.num_batches_tracked is not None and key not in state_dict:
            state_dict[key] = self.num_batches_tracked.clone()
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *lists)

    def _share(self) -> Any:
        """By how much the running statistics move towards those of this batch."""
        if not self.training or self.num_batches_tracked is None:
            return self.momentum or 0.0
        self.num_batches_tracked.add_(1)
        return 1.0 / int(self.num_batches_tracked) if self.momentum is None else self.momentum

    def extra_repr(self) -> str:
        affine = f"affine={self.affine}, bias={self.bias is not None}"
        options = f"eps={self.eps}, momentum={self.momentum}, {affine}"
        return f"{self.num_features}, {options}, track_running_stats={self.track_running_stats}"


class _BatchNorm(_ChannelNorm):
    def forward(self, input: Any) -> Any:
        own = self.training or self.running_mean is None
        affine = (self.weight, self.bias)
        return F.batch_norm(input, self.running_mean, self.running_var, *affine, own, self._share(), self.eps)


class BatchNorm1d(_BatchNorm):
    """Mean 0 and variance 1 of each feature, or of each channel of signals, over the batch."""


class BatchNorm2d(_BatchNorm):
    """Mean 0 and variance 1 of each channel of images, over the batch."""


class BatchNorm3d(_BatchNorm):
    """Mean 0 and variance 1 of each channel of volumes, over the batch."""


class _InstanceNorm(_ChannelNorm):
    _affine = _tracks = False

    def forward(self, input: Any) -> Any:
        own = self.training or self.running_mean is None
        affine = (self.weight, self.bias)
        return F.instance_norm(input, self.running_mean, self.running_var, *affine, own, self._share(), self.eps)


class InstanceNorm1d(_InstanceNorm):
    """Mean 0 and variance 1 of each channel of each signal."""


class InstanceNorm2d(_InstanceNorm):
    """Mean 0 and variance 1 of each channel of each image."""


class InstanceNorm3d(_InstanceNorm):
    """Mean 0 and variance 1 of each channel of each volume."""


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last axes."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter("weight", Parameter(creation.ones(shape, dtype=dtype)) if elementwise_affine else None)
        has_bias = elementwise_affine and bias
        self.register_parameter("bias", Parameter(creation.zeros(shape, dtype=dtype)) if has_bias else None)

    def forward(self, input: Any) -> Any:
        """`F.layer_norm` with the weight and bias of the layer."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The normalised shape, `eps`, and whether there are a weight and a bias."""
        affine = self.elementwise_affine
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={affine}" + (
            f", bias={self.bias is not None}" if affine else ""
        )


class RMSNorm(Module):
    """Divided by the root of the mean square over the last axes."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter("weight", Parameter(creation.ones(shape, dtype=dtype)) if elementwise_affine else None)

    def forward(self, input: Any) -> Any:
        """`F.rms_norm` with the weight of the layer."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The normalised shape, `eps`, and whether there is a weight."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Mean 0 and variance 1 over groups of channels."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups}).\n"
                "  fix: as many channels as groups, or a multiple"
            )
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self.register_parameter("weight", Parameter(creation.ones(num_channels, dtype=dtype)) if affine else None)
        self.register_parameter("bias", Parameter(creation.zeros(num_channels, dtype=dtype)) if affine else None)

    def forward(self, input: Any) -> Any:
        """`F.group_norm` with the weight and bias of the layer."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The numbers of groups and channels, `eps`, and whether there are a weight and a bias."""
        affine = f"affine={self.affine}, bias={self.bias is not None}"
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, {affine}"
