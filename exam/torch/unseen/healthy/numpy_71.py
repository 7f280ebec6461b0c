"""Arrays that share memory with tensors are written when nothing has saved them: input buffers and results."""

import numpy as np
import torch

torch.manual_seed(0)
rng = np.random.default_rng(0)
buffer = np.zeros((8, 4), dtype=np.float32)
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(5):
    buffer[:] = rng.normal(size=(8, 4))
    x = torch.from_numpy(buffer)
    out = net(x)
    loss = out.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen = out.detach().numpy()
    seen *= 100
    np.clip(seen, 0, 50, out=seen)
    weights = net.weight.detach().numpy().copy()
    weights += 1
assert seen.max() <= 50
