import torch
from torch import nn


class SoftQuantiser(nn.Module):
    def __init__(self, codes=12, width=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 24), nn.SiLU(), nn.Linear(24, width))
        self.codebook = nn.Embedding(codes, width)
        self.decoder = nn.Linear(width, 10)

    def forward(self, x):
        z = self.encoder(x)
        codes = self.codebook.weight
        distance = torch.cdist(z, codes)
        mixture = torch.softmax(-distance / 0.5, dim=1)
        return self.decoder(mixture @ codes)


torch.manual_seed(0)
model = SoftQuantiser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(4):
    x = torch.randn(16, 10)
    loss = nn.functional.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.codebook.weight.grad is not None
