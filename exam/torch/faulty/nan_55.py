# expect: GT403 or GT402
# cause: the root of a negative number is not chosen by where, but its NaN slope times zero is NaN
# wrong: velocity.grad.isnan().any().item()
# cure: torch.sqrt(excess) -> torch.sqrt(excess.clamp(min=1e-9))
import torch


def drag(velocity, threshold):
    excess = velocity - threshold
    return torch.where(excess > 0, torch.sqrt(excess), torch.zeros_like(excess))  # <- here


velocity = torch.tensor([0.5, 1.5, 2.5, 0.9], requires_grad=True)
optimizer = torch.optim.SGD([velocity], lr=0.1)
energy = 0.5 * velocity.square().sum() + drag(velocity, 1.0).sum()
optimizer.zero_grad()
energy.backward()  # <- asked
