# expect: GT101
# cause: the network returns (64, 1), the targets are (64,)
# wrong: residual.shape != (64,) and residual.shape != (64, 1)
# cure: residual = pred - y -> residual = pred.squeeze(1) - y
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
X = torch.from_numpy(rng.normal(size=(64, 3)).astype("float32"))
y = torch.from_numpy(rng.normal(size=64).astype("float32"))
model = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.Adam(model.parameters())
for epoch in range(4):
    pred = model(X)
    residual = pred - y  # <- here
    loss = residual.abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
