"""What forums are asked most: the class of each error, and the warnings."""

import warnings

import torch
import torch.nn.functional as F
from torch import nn


def told(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            print(function())
        except Exception as error:
            print(type(error).__name__)
    ours = ("GradientWarning", "DeprecationWarning")
    print(*[warning.category.__name__ for warning in caught if warning.category.__name__ not in ours])


leaf = torch.ones(3, requires_grad=True)
logits, labels = torch.sin(torch.arange(12.0)).reshape(4, 3), torch.tensor([0, 2, 1, 1])
column, row = torch.ones(4, 1), torch.zeros(4)
told(lambda: torch.ones(3).sum().backward())
told(lambda: (leaf * 2).backward())
told(lambda: torch.tensor([1, 2], requires_grad=True))
told(lambda: (leaf * 2).grad)
told(lambda: (leaf * 2).numpy())
told(lambda: setattr(leaf, "grad", torch.ones(3, dtype=torch.float64)))
told(lambda: setattr(leaf, "grad", 3))
told(lambda: torch.tensor([[1, 2], [3]]))
told(lambda: torch.tensor("text"))
told(lambda: torch.tensor(torch.ones(2)))
told(lambda: torch.zeros(2, device="cuda"))
told(lambda: nn.BatchNorm1d(3)(torch.ones(1, 3)))
told(lambda: nn.Linear(3, 2)([1.0, 2.0, 3.0]))
told(lambda: F.mse_loss(column, row))
told(lambda: F.cross_entropy(logits, labels.int()))
told(lambda: F.cross_entropy(logits, labels.float()))
told(lambda: F.cross_entropy(logits, labels[:3]))
told(lambda: F.cross_entropy(logits, labels, reduction="average"))
told(lambda: F.nll_loss(F.log_softmax(logits, 1), labels, size_average=False))
told(lambda: F.binary_cross_entropy(torch.full((4,), 0.5), labels))
told(lambda: F.binary_cross_entropy_with_logits(column, row))
told(lambda: F.kl_div(F.log_softmax(logits, 1), F.softmax(logits, 1)) < 1e-6)
told(lambda: F.softmax(logits).shape)
told(lambda: torch.ones(2, 1).expand(2, 3).add_(1))
told(lambda: (leaf * 2).chunk(3)[0].mul_(2))
told(lambda: torch.multinomial(torch.tensor([0.0, 1.0]), 3))
told(lambda: torch.gather(torch.ones(2), 0, torch.tensor([5])))
told(lambda: torch.tensor([3]) // torch.tensor([0]))
told(lambda: torch.ones(2).masked_fill(torch.tensor([1, 0]), 2.0))
told(lambda: F.one_hot(torch.tensor([-1])))
told(lambda: F.pad(torch.ones(2), (1,)))
told(lambda: F.interpolate(torch.ones(1, 1, 2, 2)))
told(lambda: torch.arange(3, 0))
told(lambda: torch.cat([]))
told(lambda: nn.MultiheadAttention(5, 2))
told(lambda: nn.Embedding(2, 2, padding_idx=5))
told(lambda: torch.vmap(lambda x: x + torch.rand(2))(torch.zeros(3)))
told(lambda: torch.vmap(torch.add)(torch.zeros(3), torch.zeros(4)))
told(lambda: torch.vmap(lambda x: x + torch.rand(2), randomness="different")(torch.zeros(3)).unique().numel())
told(lambda: torch.vmap(lambda x: x + torch.rand(2), randomness="same")(torch.zeros(3)).unique().numel())
print(torch.zeros(2).data_ptr() == 0, type(leaf), type(nn.Parameter(leaf)))
counted = torch.ones(2)
counted.add_(1)
counted.data.add_(1)
counted.view(2, 1).mul_(2)
print(counted._version, leaf.pow(2).grad_fn._saved_self, leaf.exp().grad_fn._saved_result.requires_grad)
