import torch
import torch.nn.functional as F
from torch import nn

T = 3.0
torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(12, 40), nn.ReLU(), nn.Linear(40, 5)).eval()
student = nn.Linear(12, 5)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(25, 12)
    with torch.no_grad():
        teacher_probs = F.softmax(teacher(x) / T, dim=-1)
    student_probs = F.log_softmax(student(x) / T, dim=-1)
    distillation = F.kl_div(student_probs, teacher_probs, reduction="batchmean") * T**2
    optimizer.zero_grad()
    distillation.backward()
    optimizer.step()
assert not (bool((student_probs >= 0).all()))
