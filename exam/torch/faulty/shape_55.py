# expect: GT112 or GT110 or GT111
# cause: the subscripts of the values name the feature axis h instead of the axis of heads
# wrong: raises RuntimeError
# cure: "bhqk,bkdh->bqhd" -> "bhqk,bkhd->bqhd"
import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.q, self.k, self.v = (nn.Linear(dim, dim, bias=False) for _ in range(3))

    def forward(self, x):
        b, t, d = x.shape
        split = lambda layer: layer(x).view(b, t, self.heads, self.size)
        q, k, v = split(self.q), split(self.k), split(self.v)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / self.size**0.5
        mixed = torch.einsum("bhqk,bkdh->bqhd", scores.softmax(-1), v)  # <- here
        return mixed.reshape(b, t, d)


torch.manual_seed(0)
x = torch.randn(2, 5, 12)
layer = MultiHead(12, 3)
loss = (layer(x) - x).pow(2).mean()
loss.backward()
