# expect: GT509
# cause: kl_div takes the logarithms of the student's probabilities and is given the probabilities
# wrong: loss.item() < 0
# cure: F.softmax(student(x) / T, dim=1) -> F.log_softmax(student(x) / T, dim=1)
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 5)).eval()
student = nn.Linear(6, 5)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
x, T = torch.randn(28, 6), 3.0
for step in range(4):
    with torch.no_grad():
        soft_target = F.softmax(teacher(x) / T, dim=1)
    soft_student = F.softmax(student(x) / T, dim=1)  # <- here
    loss = F.kl_div(soft_student, soft_target, reduction="batchmean") * T**2  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
