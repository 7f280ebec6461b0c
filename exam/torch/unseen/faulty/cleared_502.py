# expect: GT511
# cause: the gradients of the wrong optimiser are cleared: those of the head are added up over all steps
# wrong: float(head.bias.grad.abs().sum()) > 1.5 * float(last.abs().sum())
# cure: body_opt.zero_grad()  # both -> body_opt.zero_grad()\n    head_opt.zero_grad()
import torch
from torch import nn

torch.manual_seed(50)
body, head = nn.Sequential(nn.Linear(5, 8), nn.ReLU()), nn.Linear(8, 2)
body_opt = torch.optim.Adam(body.parameters(), lr=1e-3)
head_opt = torch.optim.SGD(head.parameters(), lr=1e-3)
x, labels = torch.randn(20, 5), torch.zeros(20, dtype=torch.long)
for _ in range(6):
    loss = nn.functional.cross_entropy(head(body(x)), labels)
    last = torch.autograd.grad(loss, head.bias, retain_graph=True)[0]
    body_opt.zero_grad()  # both  # <- here
    loss.backward()  # <- here
    body_opt.step()
    head_opt.step()  # <- here
