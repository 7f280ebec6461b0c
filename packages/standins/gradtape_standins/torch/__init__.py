"""A stand-in for PyTorch: its names and conventions over gradtape.

A tensor here holds a tensor of gradtape's, every function is one of gradtape's under PyTorch's name, and results print
as PyTorch prints them. See docs/standins.md for what is there and where it differs.

>>> from gradtape_standins import torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> y = (x**2).sum()
>>> y
tensor(5., grad_fn=<SumBackward0>)
>>> y.backward()
>>> x.grad
tensor([2., 4.])
"""

# ruff: noqa: F401, F403  (all names that are here are torch's; __all__ is made of them)

from __future__ import annotations

from gradtape_standins.missing_names import missing
from gradtape_standins.torch import (
    accelerator,
    amp,
    autograd,
    backends,
    cuda,
    fft,
    func,
    linalg,
    nn,
    optim,
    profiler,
    random,
    special,
    testing,
    utils,
)
from gradtape_standins.torch import dtypes as _dtypes
from gradtape_standins.torch import less_common_functions as _less_common
from gradtape_standins.torch import methods as _methods
from gradtape_standins.torch.amp import GradScaler, autocast
from gradtape_standins.torch.autograd.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from gradtape_standins.torch.creation import (
    arange,
    as_tensor,
    asarray,
    complex,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    is_tensor,
    linspace,
    logspace,
    ones,
    ones_like,
    polar,
    tensor,
    tril_indices,
    triu_indices,
    zeros,
    zeros_like,
)
from gradtape_standins.torch.dtype_info_and_settings import *
from gradtape_standins.torch.dtypes import dtype, get_default_dtype, set_default_dtype
from gradtape_standins.torch.files import load, save
from gradtape_standins.torch.func import vmap
from gradtape_standins.torch.modes import *
from gradtape_standins.torch.module_aliases import MODULE_ALIASES as _MODULE_ALIASES
from gradtape_standins.torch.printing import set_printoptions
from gradtape_standins.torch.random import Generator, default_generator
from gradtape_standins.torch.size_and_device import (
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
)
from gradtape_standins.torch.tensor import Tensor

_OF_NETWORKS = (
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d avg_pool1d max_pool1d max_pool2d "
    "max_pool3d adaptive_avg_pool1d embedding layer_norm group_norm batch_norm instance_norm cosine_similarity "
    "pairwise_distance binary_cross_entropy_with_logits kl_div bilinear celu selu prelu hardshrink threshold "
    "pixel_shuffle pixel_unshuffle channel_shuffle pdist rrelu alpha_dropout embedding_bag cosine_embedding_loss "
    "hinge_embedding_loss ctc_loss margin_ranking_loss poisson_nll_loss triplet_margin_loss "
    "rms_norm relu_ celu_ selu_ threshold_"
)
"""Functions of `torch.nn.functional` that `torch` has too."""

_WRITTEN = (
    "abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh "
    "atanh sigmoid floor ceil round trunc frac square clamp clamp_min clamp_max clip reciprocal fill zero negative "
    "detach index_put erf erfc logit nan_to_num xlogy deg2rad rad2deg"
)
"""Methods that write in place, which `torch` has as functions too."""

globals().update(_methods.FUNCTIONS)
globals().update(_less_common.FUNCTIONS)
detach = Tensor.detach
globals().update(random.FUNCTIONS)
globals().update({name: getattr(nn.functional, name) for name in _OF_NETWORKS.split()})
globals().update({f"{name}_": getattr(Tensor, f"{name}_") for name in _WRITTEN.split()})
globals().update(_dtypes.NAMES)

__version__ = "2.13.0+gradtape"
__all__ = sorted(name for name in globals() if not name.startswith("_") and name not in ("annotations", "missing"))
__getattr__ = missing(
    __name__,
    submodules=("distributions",),
    reasons={
        "bfloat16": "NumPy has no bfloat16.\n  fix: torch.float32 (or torch.float16)",
        "jit": "there is no TorchScript here.\n  fix: gt.jit compiles functions of gradtape's own tensors",
        "multiprocessing": "tensors are not shared between processes.\n  fix: Python's multiprocessing with arrays",
        "distributed": "there is one process here.\n  fix: run without it, or run this with the real torch",
    },
)
