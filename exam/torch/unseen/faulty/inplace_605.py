# expect: GT309 or GT208 or GT314
# cause: the weights are clipped through .data between the forward and the backward pass, which is not noticed
# wrong: not torch.allclose(early, right)
# cure: clip(critic, 0.01)\n    loss.backward() -> loss.backward()
import copy

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.RMSprop(critic.parameters(), lr=5e-5)
sample = torch.randn(12, 4)
twin = copy.deepcopy(critic)
twin(sample).mean().neg().backward()
right = twin[0].weight.grad


def clip(module, limit):
    for parameter in module.parameters():
        parameter.data.clamp_(-limit, limit)  # <- here


for step in range(2):
    real = sample if step == 0 else torch.randn(12, 4)
    loss = -critic(real).mean()
    optimizer.zero_grad()
    clip(critic, 0.01)
    loss.backward()  # <- asked
    if step == 0:
        early = critic[0].weight.grad.clone()
    optimizer.step()
