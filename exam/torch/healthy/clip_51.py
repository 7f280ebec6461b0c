"""Warmup and decay by LambdaLR, clipping by value, weight decay: a usual transformer recipe."""

import math

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True, dropout=0.0)
head = nn.Linear(8, 1)
params = [*layer.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(params, lr=1e-2, weight_decay=0.01)
warmup, total = 3, 10
schedule = lambda step: min((step + 1) / warmup, 0.5 * (1 + math.cos(math.pi * step / total)))
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
x, y = torch.randn(6, 5, 8), torch.randn(6, 1)
losses = []
for step in range(total):
    loss = nn.functional.mse_loss(head(layer(x).mean(dim=1)), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(params, 0.5)
    optimizer.step()
    scheduler.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
