import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 12)
y = (x[:, :3].sum(dim=1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(12, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
accumulate = 4
steps = [0]
optimizer.register_step_post_hook(lambda *_: steps.__setitem__(0, steps[0] + 1))
for i, (inputs, labels) in enumerate(loader):
    loss = criterion(model(inputs), labels) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
assert steps[0] == 3
