# expect: GT401
# cause: a sentence of padding only has a row of -inf, and the softmax of it is NaN
# wrong: torch.isnan(loss).item()
# cure: scores.masked_fill(padding.unsqueeze(1), float("-inf")) -> scores.masked_fill(padding.unsqueeze(1), -1e9)
import torch
from torch import nn


class Pooling(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Parameter(torch.randn(1, dim))
        self.out = nn.Linear(dim, 2)

    def forward(self, x, padding):
        scores = self.query @ x.transpose(1, 2)
        scores = scores.masked_fill(padding.unsqueeze(1), float("-inf"))  # <- here
        weights = torch.softmax(scores, dim=-1)  # <- here
        return self.out((weights @ x).squeeze(1))


torch.manual_seed(0)
x = torch.randn(4, 6, 5)
lengths = torch.tensor([6, 3, 0, 2])
padding = torch.arange(6) >= lengths.unsqueeze(1)
model = Pooling(5)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(3):
    loss = nn.functional.cross_entropy(model(x, padding), torch.tensor([0, 1, 1, 0]))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
