# expect: GT308
# cause: the running baseline keeps the graphs of all earlier rewards
# wrong: raises RuntimeError
# cure: baseline = 0.9 * baseline + 0.1 * reward.mean() -> baseline = 0.9 * baseline + 0.1 * reward.mean().detach()
import torch

torch.manual_seed(0)
planner = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(planner.parameters(), lr=0.01)
baseline = torch.zeros(())
for episode in range(4):
    context = torch.randn(6, 3)
    reward = -(planner(context) - context.flip(1)).pow(2).sum(1)
    loss = -(reward - baseline).mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean()  # <- here
