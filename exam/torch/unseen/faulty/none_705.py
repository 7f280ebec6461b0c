# expect: GT201 or GT202 because GT208
# cause: the codebook is read out of state_dict(), which gives detached tensors, so it is never learned
# wrong: model.codebook.weight.grad is None
# cure: self.codebook.state_dict()["weight"] -> self.codebook.weight
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
        codes = self.codebook.state_dict()["weight"]  # <- here
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
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
