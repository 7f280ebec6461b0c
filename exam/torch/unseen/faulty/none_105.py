# expect: GT201 or GT305 because GT210 or GT208
# cause: torch.Tensor of a list of losses copies the numbers, and the result has no history
# wrong: raises RuntimeError
# cure: torch.Tensor(losses).mean() -> torch.stack(losses).mean()
import torch
from torch import nn

torch.manual_seed(0)
tasks = [(torch.randn(12, 3), torch.randn(12, 1)) for _ in range(4)]
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    losses = [nn.functional.mse_loss(model(x), y) for x, y in tasks]
    total = torch.Tensor(losses).mean()  # <- here
    opt.zero_grad()
    total.backward()  # <- asked
    opt.step()
