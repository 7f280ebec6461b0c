# expect: GT307
# cause: the losses of the two tasks are kept in one tensor, and backward is called on it without a sum
# wrong: raises RuntimeError
# cure: torch.stack(tasks).backward() -> torch.stack(tasks).sum().backward()
import torch
from torch import nn

torch.manual_seed(0)
body = nn.Linear(6, 8)
heads = nn.ModuleDict({"price": nn.Linear(8, 1), "rooms": nn.Linear(8, 1)})
homes = torch.randn(20, 6)
truth = {"price": torch.randn(20, 1), "rooms": torch.randn(20, 1)}
opt = torch.optim.Adam([*body.parameters(), *heads.parameters()])
features = body(homes).relu()
tasks = [(heads[name](features) - truth[name]).pow(2).mean() for name in heads]
opt.zero_grad()
torch.stack(tasks).backward()  # <- here
opt.step()
