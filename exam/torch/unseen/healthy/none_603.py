import torch
from torch import nn

torch.manual_seed(0)
model = nn.GRU(5, 9, batch_first=True)
readout = nn.Linear(9, 1)
optimizer = torch.optim.Adam([*model.parameters(), *readout.parameters()], lr=1e-3)
sequence = torch.randn(8, 40, 5)
answers = sequence.sum(dim=(1, 2), keepdim=False)

for epoch in range(3):
    chunks = sequence.split(10, dim=1)
    running = 0.0
    for chunk in chunks:
        states, _ = model(chunk)
        loss = nn.functional.l1_loss(readout(states[:, -1]).squeeze(-1), answers)
        running = running + loss
    average = running / len(chunks)
    optimizer.zero_grad()
    average.backward()
    optimizer.step()
assert not (all(p.grad is None for p in model.parameters()))
