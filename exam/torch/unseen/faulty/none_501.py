# expect: GT201 or GT202 because GT202
# says: temperature
# cause: the temperature of the contrastive loss is a parameter that forward never uses
# wrong: raises TypeError
# cure: left @ right.T -> left @ right.T * temperature
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
encoder = nn.Linear(10, 4)
temperature = nn.Parameter(torch.tensor(5.0))  # <- here
first = torch.randn(16, 10)
second = first + 0.1 * torch.randn(16, 10)


def info_nce(a, b):
    left, right = F.normalize(encoder(a), dim=1), F.normalize(encoder(b), dim=1)
    logits = left @ right.T  # <- here
    return F.cross_entropy(logits, torch.arange(len(a)))


for _ in range(3):
    loss = info_nce(first, second)
    loss.backward()  # <- asked
    with torch.no_grad():
        for parameter in [*encoder.parameters(), temperature]:
            parameter -= 0.1 * parameter.grad  # <- asked
            parameter.grad = None
