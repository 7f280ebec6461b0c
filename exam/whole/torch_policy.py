"""Policy gradients and Q-learning with a target network: distributions, sampling, gather, soft updates, LBFGS."""

import copy

import torch
from measure import Steps
from torch import nn
from torch.distributions import Categorical, Normal
from torch_measure import finish

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
value = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
target = copy.deepcopy(value)
for p in target.parameters():
    p.requires_grad_(False)
scale = nn.Parameter(torch.zeros(3))
optimiser = torch.optim.Adam([*policy.parameters(), scale], lr=1e-2)
of_value = torch.optim.Adam(value.parameters(), lr=1e-2)
steps = Steps()
for step in range(240):
    with steps:
        states, following = torch.randn(32, 4), torch.randn(32, 4)
        choice = Categorical(logits=policy(states))
        action = choice.sample()
        reward = (action == states[:, :3].argmax(1)).float()
        advantage = reward - reward.mean()
        noise = Normal(torch.zeros(3), scale.exp()).rsample((8,))
        loss = -(choice.log_prob(action) * advantage).mean() - 0.01 * choice.entropy().mean() + 0.01 * (noise**2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

        with torch.no_grad():
            wanted = reward + 0.9 * target(following).max(1).values
        predicted = value(states).gather(1, action.unsqueeze(1)).squeeze(1)
        error = nn.functional.smooth_l1_loss(predicted, wanted)
        of_value.zero_grad()
        error.backward()
        of_value.step()
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), value.parameters(), strict=True):
                slow.lerp_(fast, 0.05)
    if step % 80 == 0:
        print(f"step {step}: reward {reward.mean().item():.4f} error {error.item():.6f}")

fit = nn.Linear(3, 1)
x = torch.randn(20, 3)
y = x @ torch.tensor([[1.0], [2.0], [3.0]])
lbfgs = torch.optim.LBFGS(fit.parameters(), max_iter=10, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    loss = ((fit(x) - y) ** 2).mean()
    loss.backward()
    return loss


lbfgs.step(closure)
print(f"fit {closure().item():.6f}")
finish(steps, policy, value, target, fit)
