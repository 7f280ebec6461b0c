# expect: GT114 or GT110 or GT314 or GT116
# cause: after a transposition the memory is not in order, and view only relabels memory
# wrong: raises RuntimeError
# cure: .transpose(1, 2).view(5, 24) -> .transpose(1, 2).reshape(5, 24)
import torch
from torch import nn

torch.manual_seed(0)
heads = nn.Linear(6, 6)
x = torch.randn(5, 4, 6)
merged = heads(x).transpose(1, 2).view(5, 24)  # <- here
loss = merged.square().mean()
loss.backward()
