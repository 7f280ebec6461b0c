import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(20, 6)), batch_size=5)
coder = nn.Sequential(nn.Linear(6, 2), nn.Tanh(), nn.Linear(2, 6))
opt = torch.optim.Adam(coder.parameters(), lr=1e-3)
for (batch,) in loader:
    loss = (coder(batch) - batch).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.isfinite(loss)
