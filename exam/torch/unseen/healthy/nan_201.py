import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(6, 5), torch.randint(0, 3, (6,))), (torch.randn(6, 5), torch.randint(0, 3, (6,)))]
for x, y in batches:
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.isfinite(loss)
