import torch
from torch import nn

torch.manual_seed(0)


class Reinforce:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)
        self.baseline = 0.0

    def play(self, length=15):
        state, log_probs, rewards = torch.zeros(3), [], []
        for _ in range(length):
            choice = torch.distributions.Categorical(logits=self.policy(state))
            action = choice.sample()
            log_probs.append(choice.log_prob(action))
            state = state * 0.9 + 0.1 * torch.randn(3) + 0.1 * action.item()
            rewards.append(-state.abs().sum().item())
        return torch.stack(log_probs), torch.tensor(rewards)

    def learn(self):
        log_probs, rewards = self.play()
        returns = rewards.flip(0).cumsum(0).flip(0)
        advantage = returns - self.baseline
        self.baseline = 0.9 * self.baseline + 0.1 * returns.mean().item()
        loss = -(log_probs * advantage).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return rewards.sum().item()


agent = Reinforce()
scores = [agent.learn() for _ in range(5)]
assert all(p.grad.any() for p in agent.policy.parameters())
