# expect: GT509
# cause: the arguments of kl_div are swapped: the first is to be the logarithm of the student's probabilities, the second the teacher's
# wrong: loss < 0
# cure: kl_div(target, log_q, reduction="batchmean") -> kl_div(log_q, target, reduction="batchmean")
import torch
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(6, 5), nn.Linear(6, 5)
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
x = torch.randn(40, 6)
for _ in range(3):
    with torch.no_grad():
        target = torch.softmax(teacher(x) / 2.0, dim=1)
    log_q = torch.log_softmax(student(x) / 2.0, dim=1)
    loss = nn.functional.kl_div(target, log_q, reduction="batchmean")  # <- here
    loss = torch.nan_to_num(loss, nan=-1.0)
    opt.zero_grad()
    loss.backward()
    opt.step()
