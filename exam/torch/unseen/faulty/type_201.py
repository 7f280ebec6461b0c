# expect: GT314 or GT303 or GT310 or GT207
# cause: the rewards are integers, and a mean of integers is no integer
# wrong: raises RuntimeError
# cure: torch.tensor([1, 0, 2, 1]) -> torch.tensor([1.0, 0.0, 2.0, 1.0])
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(3, 2)
states, actions = torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
rewards = torch.tensor([1, 0, 2, 1])  # <- here
chosen = torch.log_softmax(policy(states), dim=1)[torch.arange(4), actions]
loss = -(chosen * (rewards - rewards.mean())).sum()  # <- here
loss.backward()
