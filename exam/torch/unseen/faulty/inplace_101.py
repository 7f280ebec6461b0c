# expect: GT309
# cause: a part that unbind gave is a view, which must not be written to
# wrong: raises RuntimeError
# cure: first += 1.0 -> first = first + 1.0
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(4, 6)
out = layer(torch.randn(10, 4))
first, *others = out.unbind(1)  # <- here
first += 1.0  # <- here
loss = first.square().mean() + sum(o.mean() for o in others)
loss.backward()
