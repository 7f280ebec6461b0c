# expect: GT201 or GT202 because GT202
# cause: the learned temperature is a parameter, but the loss uses the constant of the same meaning
# wrong: head.log_temperature.grad is None
# cure: logits / TEMPERATURE -> logits / self.log_temperature.exp()
import torch
import torch.nn.functional as F
from torch import nn

TEMPERATURE = 0.5


class ContrastiveHead(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.project = nn.Linear(dim, 6)
        self.log_temperature = nn.Parameter(torch.tensor(-0.7))  # <- here

    def forward(self, a, b):
        logits = F.normalize(self.project(a), dim=1) @ F.normalize(self.project(b), dim=1).T
        return logits / TEMPERATURE  # <- here


torch.manual_seed(0)
head = ContrastiveHead(12)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
a = torch.randn(10, 12)
for step in range(3):
    loss = F.cross_entropy(head(a, a + 0.1), torch.arange(10))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
