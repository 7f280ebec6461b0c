import torch
from torch import nn

torch.manual_seed(0)
critic_1, critic_2 = nn.Linear(6, 1), nn.Linear(6, 1)
online = nn.Linear(6, 1)
pair, reward = torch.randn(20, 6), torch.randn(20)
with torch.no_grad():
    q1 = critic_1(pair).squeeze(-1)
    q2 = critic_2(pair).squeeze(-1)
    target = reward + 0.99 * torch.min(q1, q2)
loss = (online(pair)[:, 0] - target).square().mean()
loss.backward()
assert target.shape == (20,)
