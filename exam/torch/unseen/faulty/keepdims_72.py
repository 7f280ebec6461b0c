# expect: GT103 or GT101
# cause: the tokens are centred with a mean over the features that dropped its axis; there are as many tokens as features
# wrong: not torch.allclose(normalise(torch.randn(12, 12)).mean(1), torch.zeros(12), atol=1e-3)
# cure: t.mean(dim=1) -> t.mean(dim=1, keepdim=True)
import torch
from torch import nn


def normalise(t):
    centred = t - t.mean(dim=1)  # <- here
    return centred / (centred.var(dim=1, keepdim=True) + 1e-5).sqrt()


class Mixer(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.across = nn.Linear(tokens, tokens)
        self.within = nn.Linear(width, width)

    def forward(self, t):
        t = t + self.across(normalise(t).T).T
        return t + self.within(normalise(t))


torch.manual_seed(4)
mixer = Mixer(12, 12)
opt = torch.optim.SGD(mixer.parameters(), lr=0.01)
source, goal = torch.randn(12, 12), torch.randn(12, 12)
for step in range(3):
    error = nn.functional.mse_loss(mixer(source), goal)
    opt.zero_grad()
    error.backward()
    opt.step()
