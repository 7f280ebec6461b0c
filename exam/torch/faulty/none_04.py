# expect: GT201 or GT305 because GT209 or GT207
# cause: the accuracy is computed with argmax, which is integer and has no derivative, and is used as the loss
# wrong: raises RuntimeError
# cure: 1 - (logits.argmax(dim=1) == labels).float().mean() -> nn.functional.cross_entropy(logits, labels)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(40, 4)
labels = (x.sum(dim=1) > 0).long()
classifier = nn.Linear(4, 2)
optimizer = torch.optim.SGD(classifier.parameters(), lr=0.1)

for _ in range(3):
    logits = classifier(x)
    error_rate = 1 - (logits.argmax(dim=1) == labels).float().mean()  # <- here
    optimizer.zero_grad()
    error_rate.backward()  # <- asked
    optimizer.step()
