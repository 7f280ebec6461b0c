# expect: GT401
# cause: every label of the second batch is the one that is ignored, and the mean over none of them is 0 / 0
# wrong: not torch.isfinite(loss)
# cure: (torch.randn(6, 5), torch.full((6,), -100)) -> (torch.randn(6, 5), torch.randint(0, 3, (6,)))
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(6, 5), torch.randint(0, 3, (6,))), (torch.randn(6, 5), torch.full((6,), -100))]  # <- here
for x, y in batches:
    loss = nn.functional.cross_entropy(model(x), y)  # <- here
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
