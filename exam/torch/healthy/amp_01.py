"""Mixed precision: the forward pass under autocast with bfloat16, the parameters in float32."""

import torch
from torch import nn

torch.manual_seed(0)
x, labels = torch.randn(32, 10), torch.randint(0, 4, (32,))
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
first = None
for step in range(15):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(x)
        loss = nn.functional.cross_entropy(logits.float(), labels)
    loss.backward()
    optimizer.step()
    first = first or loss.item()
assert logits.dtype == torch.bfloat16
assert loss.item() < first
