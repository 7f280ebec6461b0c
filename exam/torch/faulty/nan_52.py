# expect: GT401
# cause: the standard deviation of one return is NaN, as it divides by n - 1 = 0
# wrong: any(torch.isnan(p).any() for p in policy.parameters())
# cure: returns.std() -> returns.std(unbiased=False)
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Linear(4, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def normalise(returns):
    return (returns - returns.mean()) / (returns.std() + 1e-8)  # <- here


def finish_episode(log_probs, rewards):
    returns = torch.tensor([sum(rewards[i:]) for i in range(len(rewards))])
    loss = -(torch.stack(log_probs) * normalise(returns)).sum()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()


for length in (5, 8, 1):  # the last one ends at once
    log_probs, rewards = [], []
    for _ in range(length):
        dist = Categorical(logits=policy(torch.randn(4)))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action))
    finish_episode(log_probs, rewards)
