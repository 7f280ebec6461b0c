"""CLIP's temperature is a parameter that is clamped through .data after each step."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Dual(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(12, 6), nn.Linear(9, 6)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, image, text):
        a, b = F.normalize(self.image(image), dim=-1), F.normalize(self.text(text), dim=-1)
        return self.logit_scale.exp() * a @ b.t()


torch.manual_seed(0)
model = Dual()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(4):
    logits = model(torch.randn(8, 12), torch.randn(8, 9))
    labels = torch.arange(8)
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.logit_scale.data.clamp_(0, math.log(100))
assert 0 <= model.logit_scale.item() <= math.log(100) + 1e-6
