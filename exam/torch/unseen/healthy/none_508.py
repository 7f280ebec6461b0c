"""Q learning on the greedy value, with the greedy action chosen by argmax."""

import torch
from torch import nn

torch.manual_seed(13)
q_net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)


def td_loss(state, returns):
    q_values = q_net(state)
    chosen = q_values.max(dim=1).values
    return nn.functional.smooth_l1_loss(chosen, returns)


for episode in range(3):
    state, returns = torch.randn(10, 4), torch.randn(10)
    loss = td_loss(state, returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
action = q_net(state).argmax(dim=1)
taken = q_net(state).gather(1, action[:, None]).squeeze(1)
assert taken.requires_grad
assert not action.is_floating_point()
