"""Only a part is given to the optimiser on purpose: the fixed part has requires_grad switched off, inputs are detached."""

import torch
from torch import nn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 4))
student = nn.Linear(5, 4)
opt = torch.optim.AdamW(student.parameters(), lr=0.02, weight_decay=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(opt, 0.05, total_steps=6)
for _ in range(6):
    x = torch.randn(16, 5)
    with torch.inference_mode():
        soft = torch.softmax(teacher(x) / 2, dim=-1)
    loss = nn.functional.kl_div(torch.log_softmax(student(x) / 2, dim=-1), soft.clone(), reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
    scheduler.step()
assert all(p.grad is None for p in teacher.parameters())
