"""Where names of PyTorch's are kept in another module here: the modules that it has and the stand-in has not."""

from __future__ import annotations

import sys
from types import ModuleType

_BELOW = {
    "utils.data": "dataset dataloader sampler",
    "nn.modules": "activation batchnorm container conv distance dropout flatten linear loss normalization padding "
    "pooling rnn sparse transformer upsampling",
    "optim": "adadelta adagrad adam adamax adamw asgd lbfgs nadam radam rmsprop rprop sgd",
    "distributions": "bernoulli beta binomial categorical cauchy dirichlet exponential gamma geometric gumbel "
    "half_cauchy half_normal independent kumaraswamy laplace log_normal mixture_same_family multinomial "
    "multivariate_normal normal one_hot_categorical pareto poisson relaxed_bernoulli relaxed_categorical studentT "
    "transformed_distribution uniform von_mises weibull",
    "autograd": "variable grad_mode",
}

MODULE_ALIASES = {
    f"torch.{package}.{module}": f"torch.{package.removesuffix('.modules')}"
    for package, modules in _BELOW.items()
    for module in modules.split()
} | {"torch.cuda.amp": "torch.amp"}
"""Modules of PyTorch's whose names are in another one here."""


def modules_of(package: str) -> dict[str, ModuleType]:
    """What a module of the stand-in, which is being made, has under the names of PyTorch's modules below it."""
    own = package.partition("torch.")[2]
    known = vars(sys.modules[package])
    return {name: sys.modules[package] for name in _BELOW[own].split() if name not in known}
