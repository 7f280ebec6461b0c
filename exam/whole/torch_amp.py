"""Automatic mixed precision: autocast to bfloat16 and a GradScaler with clipping, on the CPU."""

import torch
from measure import Steps
from torch import nn
from torch_measure import finish

torch.manual_seed(0)
x = torch.randn(64, 32)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 2))
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=20)
steps = Steps()
for step in range(600):
    with steps:
        optimiser.zero_grad()
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            output = model(x)
            loss = nn.functional.cross_entropy(output, y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimiser)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimiser)
        scaler.update()
    if step % 200 == 0:
        print(f"step {step}: {output.dtype} loss {loss.item():.6f} scale {scaler.get_scale()}")
finish(steps, model)
