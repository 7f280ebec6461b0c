"""`torch.optim.swa_utils`: the mean of a model's parameters over a run."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.torch import creation
from gradtape_standins.torch.nn.module import Module
from gradtape_standins.torch.optim.lr_scheduler import LRScheduler

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """Moving averages: decay times the old one and the rest of the new one."""
    return lambda average, new, count: decay * average + (1 - decay) * new


def get_swa_avg_fn() -> Callable[..., Any]:
    """The mean of all that was shown."""
    return lambda average, new, count: average + (new - average) / (count + 1)


def _of_lists(each: Callable[..., Any]) -> Callable[..., Any]:
    """An average of one tensor, as one of lists of tensors that is written in place."""

    def update(averages: list[Any], news: list[Any], count: Any) -> None:
        for average, new in zip(averages, news, strict=True):
            average.copy_(each(average, new, count))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """`get_ema_avg_fn` for all parameters at once."""
    return _of_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable[..., Any]:
    """`get_swa_avg_fn` for all parameters at once."""
    return _of_lists(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model whose parameters are the mean of those it was shown."""

    def __init__(
        self,
        model: Any,
        device: Any = None,
        avg_fn: Any = None,
        multi_avg_fn: Any = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", creation.tensor(0))
        self._average = multi_avg_fn or _of_lists(avg_fn or get_swa_avg_fn())
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The averaged module."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of the model, as they are now, into the mean."""
        own: list[Any] = list(self.module.parameters())
        others: list[Any] = list(model.parameters())
        if self.use_buffers:
            own, others = [*own, *self.module.buffers()], [*others, *model.buffers()]
        count = int(self.n_averaged)
        with gt.no_grad():
            shown = [new.detach() for new in others]
            if count == 0:
                for held, new in zip(own, shown, strict=True):
                    held.copy_(new)
            else:
                self._average([held.detach() for held in own], shown, self.n_averaged)
            if not self.use_buffers:
                for kept, given in zip(self.module.buffers(), model.buffers(), strict=True):
                    kept.copy_(given)
            self.n_averaged += 1


def update_bn(loader: Any, model: Module, device: Any = None) -> None:
    """Have the statistics of batch norms follow the data of `loader`."""
    norms = [module for module in model.modules() if hasattr(module, "reset_running_stats")]
    if not norms:
        return
    was_training, momenta = model.training, [module.momentum for module in norms]
    for module in norms:
        module.reset_running_stats()
        module.momentum = None
    model.train()
    with gt.no_grad():
        for batch in loader:
            model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for module, momentum in zip(norms, momenta, strict=True):
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the rates as they are to `swa_lr` within `anneal_epochs` epochs."""

    def __init__(
        self,
        optimizer: Any,
        swa_lr: float,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._strategy, self.anneal_epochs, self._aim = anneal_strategy, anneal_epochs, swa_lr
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Rates on the way from the initial ones to `swa_lr`, by a cosine or a line."""
        share = min(1.0, self.last_epoch / max(1, self.anneal_epochs))
        way = (1 - math.cos(math.pi * share)) / 2 if self._strategy == "cos" else share
        return [base + (self._aim - base) * way for base in self.base_lrs]


__getattr__ = missing(__name__)
