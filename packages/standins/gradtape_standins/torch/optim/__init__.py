"""`torch.optim`: gradtape's optimisers under PyTorch's names and conventions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape import optim as ours
from gradtape.extend import Tensor as Value
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.module_aliases import modules_of
from gradtape_standins.torch.optim import lr_scheduler, swa_utils
from gradtape_standins.torch.optim.optimizer import Optimizer, Ours, initialiser

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]


def _optimiser(name: str, doc: str, defaults: dict[str, Any], others: dict[str, Any]) -> Any:
    body = {
        "_make": getattr(ours, name),
        "_names": tuple(option for option in defaults if option not in ("lr", "maximize")),
        "__init__": initialiser(defaults, others),
        "__doc__": doc,
        "__module__": __name__,
    }
    return type(name, (Ours,), body)


_USUAL: dict[str, Any] = {"foreach": None, "capturable": False, "differentiable": False}
SGD = _optimiser(
    "SGD",
    "Gradient descent, with momentum if that is asked for.",
    {"lr": 1e-3, "momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": False, "maximize": False},
    {"foreach": None, "differentiable": False, "fused": None},
)
SGD._counts = False
_ADAM: dict[str, Any] = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8}
Adam = _optimiser(
    "Adam",
    "Steps scaled by moving averages of the gradient and of its square.",
    {**_ADAM, "weight_decay": 0, "amsgrad": False, "maximize": False},
    {**_USUAL, "fused": None, "decoupled_weight_decay": False},
)
AdamW = _optimiser(
    "AdamW",
    "`Adam` with weight decay apart from the gradient.",
    {**_ADAM, "weight_decay": 1e-2, "amsgrad": False, "maximize": False},
    {**_USUAL, "fused": None, "decoupled_weight_decay": True},
)
NAdam = _optimiser(
    "NAdam",
    "`Adam` with Nesterov's momentum.",
    {**_ADAM, "lr": 2e-3, "weight_decay": 0, "momentum_decay": 4e-3, "decoupled_weight_decay": False},
    {**_USUAL, "maximize": False},
)
RAdam = _optimiser(
    "RAdam",
    "`Adam` that trusts the mean square by and by.",
    {**_ADAM, "weight_decay": 0, "decoupled_weight_decay": False},
    {**_USUAL, "maximize": False},
)
Adamax = _optimiser(
    "Adamax",
    "`Adam` with the largest gradient in the place of the mean square.",
    {**_ADAM, "lr": 2e-3, "weight_decay": 0, "maximize": False},
    _USUAL,
)
RMSprop = _optimiser(
    "RMSprop",
    "Steps divided by the root of a moving average of the gradient's square.",
    {"lr": 1e-2, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0, "momentum": 0, "centered": False, "maximize": False},
    _USUAL,
)
Adagrad = _optimiser(
    "Adagrad",
    "Steps divided by the root of the sum of the gradient's squares.",
    {
        "lr": 1e-2,
        "lr_decay": 0,
        "weight_decay": 0,
        "initial_accumulator_value": 0,
        "eps": 1e-10,
        "maximize": False,
    },
    {"foreach": None, "differentiable": False, "fused": None},
)
Adadelta = _optimiser(
    "Adadelta",
    "Steps in the units of the parameters.",
    {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0, "maximize": False},
    _USUAL,
)

Rprop = _optimiser(
    "Rprop",
    "Along the sign of the gradient, by a step of its own for each number.",
    {"lr": 1e-2, "etas": (0.5, 1.2), "step_sizes": (1e-6, 50)},
    {**_USUAL, "maximize": False},
)
ASGD = _optimiser(
    "ASGD",
    "Gradient descent whose rate falls, with the mean of the parameters beside it.",
    {"lr": 1e-2, "lambd": 1e-4, "alpha": 0.75, "t0": 1e6, "weight_decay": 0},
    {**_USUAL, "maximize": False},
)


class LBFGS(Optimizer):
    """Newton's method with a curvature that is guessed from the last steps: `step` needs a closure."""

    def __init__(
        self,
        params: Any,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        with translating():
            self._ours = ours.LBFGS(
                lr, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search_fn
            )
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        self._memory: Any = None
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Minimise: `closure` clears the gradients, computes the loss, calls `backward` and returns the loss."""
        if closure is None:
            raise TypeError("LBFGS.step needs a closure that computes the loss again and returns it")
        params, self._ours.learning_rate = self.param_groups[0]["params"], self.param_groups[0]["lr"]
        losses: list[Any] = []

        def evaluated(arrays: Any) -> Any:
            for parameter, array in zip(params, arrays, strict=True):
                parameter._put(Value(np.asarray(array)), True)
            with gt.enable_grad():
                losses.append(closure())
            gradients = [
                np.zeros(p._value.shape, p._value.dtype) if p.grad is None else p.grad._numbers for p in params
            ]
            return losses[-1].item() if hasattr(losses[-1], "item") else losses[-1], gradients

        with translating():
            start = [np.array(parameter._numbers) for parameter in params]
            if self._memory is None:
                self._memory = self._ours.init(start)
            _, found, self._memory = self._ours.minimise_step(evaluated, self._memory, start)
            for parameter, array in zip(params, found, strict=True):
                parameter._put(Value(np.asarray(array)), True)
        return losses[0]


globals().update(modules_of(__name__))
__getattr__ = missing(__name__, reasons={"SparseAdam": "there are no sparse gradients here.\n  fix: torch.optim.Adam"})
