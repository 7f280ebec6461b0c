# expect: GT509
# cause: binary_cross_entropy takes probabilities; the output is squashed by tanh, which is not between 0 and 1
# wrong: raises RuntimeError
# cure: torch.tanh(self.head(h)) -> torch.sigmoid(self.head(h))
import torch
import torch.nn.functional as F
from torch import nn


class LinkPredictor(nn.Module):
    def __init__(self, nodes=30, width=8):
        super().__init__()
        self.embed = nn.Embedding(nodes, width)
        self.head = nn.Linear(width, 1)

    def forward(self, pairs):
        h = self.embed(pairs[:, 0]) * self.embed(pairs[:, 1])
        return torch.tanh(self.head(h)).squeeze(-1)  # <- here


torch.manual_seed(0)
model = LinkPredictor()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(3):
    pairs = torch.randint(0, 30, (50, 2))
    linked = ((pairs[:, 0] + pairs[:, 1]) % 2).float()
    loss = F.binary_cross_entropy(model(pairs), linked)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
