# expect: GT101
# cause: the actions come out of the replay memory as a column (20, 1), so that log_prob is (20, 20)
# wrong: logp.shape != (20,)
# cure: torch.cat([m[1] for m in memory]) -> torch.cat([m[1] for m in memory]).squeeze(1)
import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 24)
        self.affine2 = nn.Linear(24, 2)

    def forward(self, x):
        return self.affine2(torch.relu(self.affine1(x)))


def play(policy, steps):
    memory, state = [], torch.randn(1, 4)
    for _ in range(steps):
        with torch.no_grad():
            action = Categorical(logits=policy(state)).sample()
        reward = float(state[0, 0] > 0) * float(action)
        memory.append((state, action.view(1, 1), reward))
        state = 0.9 * state + 0.3 * torch.randn(1, 4)
    return memory


torch.manual_seed(2)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(3):
    memory = play(policy, 20)
    states = torch.cat([m[0] for m in memory])
    actions = torch.cat([m[1] for m in memory])
    rewards = torch.tensor([m[2] for m in memory])
    weights = rewards.flip(0).cumsum(0).flip(0)
    weights = (weights - weights.mean()) / (weights.std() + 1e-8)
    logp = Categorical(logits=policy(states)).log_prob(actions)  # <- here
    loss = -(logp * weights).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
