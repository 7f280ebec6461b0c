"""CLIP-like loss: every image meets every text, and cross entropy is taken along both axes."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
image_encoder, text_encoder = nn.Linear(20, 8), nn.Linear(15, 8)
log_scale = nn.Parameter(torch.tensor(2.0))
params = [*image_encoder.parameters(), *text_encoder.parameters(), log_scale]
optimizer = torch.optim.AdamW(params, lr=1e-2)
images, texts = torch.randn(12, 20), torch.randn(12, 15)
losses = []
for step in range(12):
    a = F.normalize(image_encoder(images), dim=-1)
    b = F.normalize(text_encoder(texts), dim=-1)
    logits = log_scale.exp() * a @ b.T
    labels = torch.arange(len(logits))
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
