# expect: GT401
# cause: the logarithm of a probability that softmax rounded to zero
# wrong: not math.isfinite(loss.item())
# cure: torch.log(torch.softmax(logits, dim=1)) -> torch.log_softmax(logits, dim=1)
import math

import torch
from torch import nn

torch.manual_seed(0)
x = 100 * torch.randn(20, 5)
labels = torch.randint(0, 4, (20,))
model = nn.Linear(5, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def cross_entropy(logits, labels):
    log_probs = torch.log(torch.softmax(logits, dim=1))  # <- here
    return -log_probs[torch.arange(len(labels)), labels].mean()


for step in range(3):
    optimizer.zero_grad()
    loss = cross_entropy(3 * model(x), labels)
    loss.backward()  # <- asked
    optimizer.step()
