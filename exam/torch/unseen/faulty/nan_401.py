# expect: GT401
# cause: the inverse of softplus is written as log(exp(x) - 1), and exp overflows for a large x
# wrong: torch.isinf(loss) or torch.isnan(loss)
# cure: torch.log(torch.exp(sigma) - 1)  # <- here -> sigma + torch.log(-torch.expm1(-sigma))
import torch
from torch import nn

torch.manual_seed(0)
sigma = torch.tensor([0.5, 2.0, 120.0])
raw = torch.log(torch.exp(sigma) - 1)  # <- here
scale = nn.Parameter(torch.ones(3))
loss = (scale * raw).square().mean()
loss.backward()
