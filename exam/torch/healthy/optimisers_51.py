"""Parts of a model are meant to stay: a random feature layer is a buffer, and the optimiser has the rest."""

import torch
from torch import nn


class RandomFeatures(nn.Module):
    def __init__(self, n_in, n_features):
        super().__init__()
        self.register_buffer("projection", torch.randn(n_in, n_features))
        self.head = nn.Linear(n_features, 1)

    def forward(self, x):
        return self.head(torch.cos(x @ self.projection))


torch.manual_seed(0)
model = RandomFeatures(3, 30)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
x = torch.randn(40, 3)
y = x.norm(dim=1, keepdim=True)
losses = []
for step in range(20):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
assert len(list(model.parameters())) == 2
