import torch
import torch.nn as nn
import torch.nn.functional as F


class SparseAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(20, 40)
        self.dec = nn.Linear(40, 20)

    def forward(self, x):
        code = torch.relu(self.enc(x))
        return self.dec(code), code


def criterion(output, code, x):
    reconstruction = F.mse_loss(output, x)
    sparsity = code.abs().mean()
    return reconstruction + 0.1 * sparsity


torch.manual_seed(0)
net = SparseAutoencoder()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(3):
    x = torch.rand(16, 20)
    output, code = net(x)
    loss = criterion(output, code, x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert net.enc.weight.grad is not None
