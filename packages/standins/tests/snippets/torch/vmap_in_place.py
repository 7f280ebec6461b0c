"""Functions that write to their arguments, mapped: what the caller's tensors are afterwards."""

import torch


def attempt(function, *args, **options):
    try:
        print(torch.vmap(function, **options)(*args), *args)
    except RuntimeError as error:
        print(type(error).__name__)


def both(x):
    x.add_(1)
    x[0] = 5.0
    return x * 2


def scaled(x, y):
    x.mul_(y)
    return x.sum()


numbers = torch.arange
attempt(both, numbers(6.0).reshape(2, 3))
attempt(both, numbers(6.0).reshape(2, 3), in_dims=1)
attempt(scaled, numbers(6.0).reshape(3, 2), torch.tensor([1.0, 2.0, 3.0]))
attempt(scaled, numbers(6.0).reshape(2, 3), torch.tensor([1.0, 2.0, 3.0]), in_dims=(1, 0))
attempt(scaled, numbers(2.0), torch.tensor([1.0, 2.0, 3.0]), in_dims=(None, 0))
attempt(lambda x, y: x.add_(1).sum() + y, numbers(2.0), torch.tensor([1.0, 2.0, 3.0]), in_dims=(None, 0))
attempt(lambda d: d["a"].add_(1) * d["b"], {"a": numbers(3.0), "b": numbers(3.0)})
attempt(lambda x: x.clone().add_(1), numbers(3.0))
attempt(lambda x: (x * 2).add_(1).sin_(), numbers(3.0))
attempt(lambda x: x[0].zero_(), numbers(6.0).reshape(2, 3))
attempt(lambda x: (x.add_(1), x.sub_(2)), numbers(3.0))
attempt(lambda x: x.relu_(), numbers(4.0) - 2)
attempt(lambda x, y: x.copy_(y), torch.zeros(3), numbers(3.0))
attempt(lambda x: torch.zeros(3).add_(1) + x, numbers(3.0))
attempt(lambda x: x * 2, numbers(3.0))
