# expect: GT501
# cause: the attention weights are normalised over the queries, and the values are summed over the keys
# wrong: not torch.allclose(weights.sum(-1), torch.ones(2, 5), atol=1e-4)
# cure: scores.softmax(dim=1) -> scores.softmax(dim=-1)
import torch
from torch import nn

torch.manual_seed(0)
q, k, v = (nn.Linear(8, 8) for _ in range(3))
x = torch.randn(2, 5, 8)
scores = q(x) @ k(x).transpose(1, 2) / 8**0.5
weights = scores.softmax(dim=1)  # <- here
out = weights @ v(x)
out.pow(2).mean().backward()
