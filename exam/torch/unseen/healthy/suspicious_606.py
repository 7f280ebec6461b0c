import torch
from torch import nn


class VectorQuantiser(nn.Module):
    def __init__(self, codes=16, width=4, commitment=0.25):
        super().__init__()
        self.codes = nn.Embedding(codes, width)
        self.commitment = commitment

    def forward(self, z):
        index = torch.cdist(z, self.codes.weight).argmin(dim=-1)
        q = self.codes(index)
        loss = (q - z.detach()).square().mean() + self.commitment * (q.detach() - z).square().mean()
        return z + (q - z).detach(), loss


torch.manual_seed(0)
encode, decode, quantise = nn.Linear(10, 4), nn.Linear(4, 10), VectorQuantiser()
modules = nn.ModuleList([encode, decode, quantise])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-2)
for step in range(5):
    x = torch.randn(32, 10)
    z, vq_loss = quantise(encode(x))
    loss = nn.functional.mse_loss(decode(z), x) + vq_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert encode.weight.grad.any()
assert quantise.codes.weight.grad.any()
