# expect: GT401
# cause: the entropy takes the logarithm of probabilities that are exactly zero
# wrong: not torch.isfinite(loss)
# cure: p.log() -> p.clamp_min(1e-12).log()
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(4, 3)
state = torch.randn(10, 4) * 200
advantage = torch.randn(10)
opt = torch.optim.Adam(policy.parameters())
p = torch.softmax(policy(state), dim=-1)
entropy = -(p * p.log()).sum(-1)  # <- here
loss = -(p[:, 0] * advantage).mean() - 0.01 * entropy.mean()
opt.zero_grad()
loss.backward()  # <- asked
opt.step()
