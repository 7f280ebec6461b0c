# expect: GT112 or GT110 or GT111
# cause: the letters of the bilinear form do not match: the weight is (out, left, right), not (left, right, out)
# wrong: raises ValueError
# cure: "bi,ijo,bj->bo" -> "bi,oij,bj->bo"
import torch
from torch import nn


class Bilinear(nn.Module):
    def __init__(self, left, right, out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out, left, right) / left)

    def forward(self, a, b):
        return torch.einsum("bi,ijo,bj->bo", a, self.weight, b)  # <- here


torch.manual_seed(0)
score = Bilinear(5, 3, 2)
loss = score(torch.randn(7, 5), torch.randn(7, 3)).pow(2).mean()
loss.backward()
