import torch
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(6, 4), nn.Linear(6, 4)
start = student.weight.detach().clone()
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
for _ in range(5):
    x = torch.randn(16, 6)
    with torch.no_grad():
        target = torch.softmax(teacher(x) / 3, dim=1)
    log_p = torch.log_softmax(student(x) / 3, dim=1)
    loss = nn.functional.kl_div(log_p, target, reduction="batchmean") + 0.01 * log_p.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert not torch.equal(start, student.weight)
