# expect: GT404 or GT209 or GT201
# cause: the votes are the sign of the scores, whose derivative is zero
# wrong: all(not p.grad.any() for p in scorer.parameters())
# cure: torch.sign(scorer(x)) -> torch.tanh(scorer(x))
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(40, 3)
y = torch.where(x[:, 0] > x[:, 1], 1.0, -1.0).unsqueeze(1)
scorer = nn.Sequential(nn.Linear(3, 10), nn.GELU(), nn.Linear(10, 1))
optimizer = torch.optim.Adam(scorer.parameters(), lr=1e-2)


def train_step():
    votes = torch.sign(scorer(x))  # <- here
    loss = (1 - votes * y).clamp(min=0).mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
    return loss.item()


losses = [train_step() for _ in range(5)]
