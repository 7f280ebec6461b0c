# expect: GT314 or GT303 or GT310 or GT118
# cause: the labels are integers, and the binary loss takes numbers of the dtype of the logits
# wrong: raises RuntimeError
# cure: labels) -> labels.float())
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(30, 4)
labels = (x.sum(dim=1) > 0).long()  # <- here
model = nn.Linear(4, 1)
loss = nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], labels)  # <- here
loss.backward()
