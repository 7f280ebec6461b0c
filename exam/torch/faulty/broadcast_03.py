# expect: GT101
# cause: gather keeps a column of Q values, (32, 1), and the rewards and bootstrapped values are vectors (32,)
# wrong: td_error.shape == (32, 32)
# cure: target - q_taken -> target.unsqueeze(1) - q_taken
import copy

import torch
from torch import nn

torch.manual_seed(2)
policy_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = copy.deepcopy(policy_net)
optimizer = torch.optim.Adam(policy_net.parameters(), lr=1e-3)

state, next_state = torch.randn(32, 4), torch.randn(32, 4)
action = torch.randint(0, 2, (32, 1))
reward = torch.rand(32)
done = (torch.rand(32) < 0.1).float()

q_taken = policy_net(state).gather(1, action)
with torch.no_grad():
    next_value = target_net(next_state).max(dim=1).values
target = reward + 0.99 * next_value * (1 - done)
td_error = target - q_taken  # <- here
loss = torch.where(td_error.abs() < 1, 0.5 * td_error**2, td_error.abs() - 0.5).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
