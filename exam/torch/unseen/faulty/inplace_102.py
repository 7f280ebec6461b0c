# expect: GT309
# cause: expand repeats one number in memory, and writing to it in place would write to all at once
# wrong: raises RuntimeError
# cure: base.expand(4, 3) -> base.repeat(4, 1)
import torch

base = torch.zeros(1, 3)
offsets = torch.randn(4, 3, requires_grad=True)
field = base.expand(4, 3)  # <- here
field += offsets  # <- here
loss = (field**2).sum()
loss.backward()
