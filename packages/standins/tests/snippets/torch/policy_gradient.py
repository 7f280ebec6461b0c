"""A policy that is trained by the score of its actions, and one by the clipped ratio of probabilities."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical, Normal


def filled(module):
    """Numbers that do not depend on a generator."""
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            count = parameter.numel()
            parameter.copy_(torch.sin(torch.arange(count) + number).reshape(parameter.shape) * 0.5)
    return module


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 8)
        self.affine2 = nn.Linear(8, 2)

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=1)


policy = filled(Policy())
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
logs, rewards = [], []
for step in range(5):
    state = torch.sin(torch.arange(4.0) + step).unsqueeze(0)
    choice = Categorical(policy(state))
    drawn = choice.sample()  # before the logarithm is asked for: what is kept meanwhile has its gradient
    action = torch.tensor([step % 2])
    logs.append(choice.log_prob(action))
    rewards.append(float(step))
print(choice, drawn.shape, drawn.dtype)
returns, total = [], 0.0
for reward in reversed(rewards):
    total = reward + 0.99 * total
    returns.insert(0, total)
returns = torch.tensor(returns)
returns = (returns - returns.mean()) / (returns.std() + 1e-7)
loss = torch.cat([-log * value for log, value in zip(logs, returns)]).sum()
optimizer.zero_grad()
loss.backward()
optimizer.step()
print(loss, returns)
print(policy.affine2.weight.grad)
print(choice.entropy(), choice.probs, choice.logits)

mean, log_std = torch.tensor([[0.1, 0.4], [0.0, -0.2]], requires_grad=True), torch.zeros(2, requires_grad=True)
acting = Normal(mean, log_std.exp())
log_probability = acting.log_prob(torch.tensor([[0.1, 0.2], [0.3, 0.4]])).sum(-1)
ratio = (log_probability - log_probability.detach()).exp()
advantage = torch.tensor([1.0, -1.0])
clipped = torch.clamp(ratio, 0.8, 1.2) * advantage
loss = -torch.min(ratio * advantage, clipped).mean() - 0.01 * acting.entropy().mean()
loss.backward()
print(loss, mean.grad, log_std.grad)
