# expect: GT314 or GT311
# cause: a DataLoader of a TensorDataset gives lists of tensors, and the list goes into the model
# wrong: raises TypeError
# cure: for batch in loader:  # <- here -> for (batch,) in loader:
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(20, 6)), batch_size=5)
coder = nn.Sequential(nn.Linear(6, 2), nn.Tanh(), nn.Linear(2, 6))
opt = torch.optim.Adam(coder.parameters(), lr=1e-3)
for batch in loader:  # <- here
    loss = (coder(batch) - batch).square().mean()  # <- here
    opt.zero_grad()
    loss.backward()
    opt.step()
