# expect: GT201 or GT512 because GT210 or GT208 or GT203
# cause: the state of the simulation goes through NumPy for a clip, and starts anew as a leaf
# wrong: policy.weight.grad is None
# cure: state = torch.from_numpy(np.clip(state.detach().numpy(), -5, 5)).requires_grad_() -> state = state.clamp(-5, 5)
import numpy as np
import torch

torch.manual_seed(0)
policy = torch.nn.Linear(4, 2)
B = torch.randn(2, 4) * 0.1
opt = torch.optim.SGD(policy.parameters(), lr=0.01)
for episode in range(3):
    state = torch.ones(8, 4)
    for t in range(5):
        state = state * 0.95 + policy(state) @ B
    state = torch.from_numpy(np.clip(state.detach().numpy(), -5, 5)).requires_grad_()  # <- here
    cost = state.pow(2).sum(dim=1).mean()
    opt.zero_grad()
    cost.backward()  # <- asked
    opt.step()  # <- asked
