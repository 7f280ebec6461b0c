import torch
from torch import nn


def q_network():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))


torch.manual_seed(0)
policy_net, target_net = q_network(), q_network()
target_net.load_state_dict(policy_net.state_dict())
begin = policy_net[0].weight.detach().clone()
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-3)
for step in range(4):
    state, following = torch.randn(32, 4), torch.randn(32, 4)
    action, reward, done = torch.randint(0, 2, (32, 1)), torch.randn(32), torch.rand(32) < 0.1
    with torch.no_grad():
        bootstrapped = target_net(following).max(dim=1).values.masked_fill(done, 0.0)
    q = policy_net(state).gather(1, action).squeeze(1)
    loss = nn.functional.smooth_l1_loss(q, reward + 0.99 * bootstrapped)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
assert not torch.equal(policy_net[0].weight, begin)
