import torch
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(5, 4), nn.Linear(5, 4)
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
x = torch.randn(20, 5)
for _ in range(3):
    with torch.no_grad():
        target = teacher(x).softmax(dim=1)
    loss = nn.functional.cross_entropy(student(x), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert loss > 1
