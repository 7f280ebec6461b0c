# expect: GT201 or GT305 because GT208 or GT210 or GT203
# cause: the total is put into a new tensor by torch.Tensor([...]), which copies the number only
# wrong: raises RuntimeError
# cure: torch.Tensor([reconstruction + 0.1 * sparsity]) -> reconstruction + 0.1 * sparsity
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
    return torch.Tensor([reconstruction + 0.1 * sparsity])  # <- here


torch.manual_seed(0)
net = SparseAutoencoder()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(3):
    x = torch.rand(16, 20)
    output, code = net(x)
    loss = criterion(output, code, x)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
