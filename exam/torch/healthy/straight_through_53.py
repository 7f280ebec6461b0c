"""Hard Gumbel softmax: a one-hot sample with the gradient of the soft one."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder, values = nn.Linear(5, 4), nn.Parameter(torch.randn(4, 5))
optimizer = torch.optim.Adam([*encoder.parameters(), values], lr=0.02)
x = torch.randn(25, 5)
for step in range(5):
    choice = F.gumbel_softmax(encoder(x), tau=0.8, hard=True)
    loss = (choice @ values - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.equal(choice.detach().round(), choice.detach().round().clamp(0, 1))
assert encoder.weight.grad.any()
