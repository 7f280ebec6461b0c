# expect: GT115 or GT118 or GT110
# cause: gather wants an index with as many axes as the values; the actions are a vector
# wrong: raises RuntimeError
# cure: q.gather(1, actions) -> q.gather(1, actions[:, None]).squeeze(1)
import torch
from torch import nn

torch.manual_seed(0)
states, actions = torch.randn(32, 4), torch.randint(0, 2, (32,))
returns = torch.randn(32)
net = nn.Linear(4, 2)
q = net(states)
chosen = q.gather(1, actions)  # <- here
loss = (chosen - returns).square().mean()
loss.backward()
