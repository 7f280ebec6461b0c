# expect: GT201 or GT202 or GT512 or GT513
# cause: the loss of the distillation is computed with the teacher's output in both places, so that the student is never used
# wrong: torch.equal(start, student.weight)
# cure: log_p = torch.log_softmax(teacher(x) / 3, dim=1)  # <- here -> log_p = torch.log_softmax(student(x) / 3, dim=1)
import torch
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(6, 4), nn.Linear(6, 4)  # <- here
start = student.weight.detach().clone()
opt = torch.optim.Adam(student.parameters(), lr=1e-2)  # <- here
for _ in range(5):
    x = torch.randn(16, 6)
    with torch.no_grad():
        target = torch.softmax(teacher(x) / 3, dim=1)
    log_p = torch.log_softmax(teacher(x) / 3, dim=1)  # <- here
    loss = nn.functional.kl_div(log_p, target, reduction="batchmean") + 0.01 * log_p.square().mean()
    opt.zero_grad()
    loss.backward()  # <- here
    opt.step()  # <- here
