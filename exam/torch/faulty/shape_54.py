# expect: GT113 or GT110
# cause: the embedding of the category is (9, 1, 4), because the categories come as a column, the numbers are (9, 3)
# wrong: raises RuntimeError
# cure: self.embed(category) -> self.embed(category.squeeze(1))
import torch
from torch import nn


class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 4)
        self.mlp = nn.Sequential(nn.Linear(7, 10), nn.ReLU(), nn.Linear(10, 1))

    def forward(self, numeric, category):
        e = self.embed(category)  # <- here
        x = torch.cat([numeric, e], dim=1)  # <- here
        return self.mlp(x)


torch.manual_seed(0)
numeric, category = torch.randn(9, 3), torch.randint(0, 6, (9, 1))
model = Tabular()
loss = model(numeric, category).pow(2).mean()
loss.backward()
