import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
ACCUMULATE = 4
data = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Dropout(0.2), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
updates = 0
for epoch in range(2):
    for index, (x, y) in enumerate(DataLoader(data, batch_size=4)):
        loss = nn.functional.cross_entropy(model(x), y) / ACCUMULATE
        loss.backward()
        if (index + 1) % ACCUMULATE == 0:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            updates += 1
assert updates == 8
