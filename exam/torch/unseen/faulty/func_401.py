# expect: GT310 or GT207 or GT203
# cause: argnums counts from zero: 2 is the labels, which are integers
# wrong: raises RuntimeError
# cure: grad(loss, argnums=2) -> grad(loss, argnums=0)
import torch
from torch import nn
from torch.func import grad

torch.manual_seed(0)


def loss(weight, x, labels):
    return nn.functional.cross_entropy(x @ weight, labels)


weight, x, labels = torch.randn(5, 3), torch.randn(12, 5), torch.randint(0, 3, (12,))
gradient = grad(loss, argnums=2)(weight, x, labels)  # <- here
weight = weight - 0.1 * gradient
