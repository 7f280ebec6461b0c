# expect: GT403 or GT402
# cause: where picks the safe branch, but the slope of log at 0 is infinite and 0 * inf is NaN
# wrong: rate.grad.isnan().any().item()
# cure: torch.log(rate) -> torch.log(torch.where(rate > 0, rate, torch.ones_like(rate)))
import torch


def entropy_term(rate):
    return torch.where(rate > 0, rate * torch.log(rate), torch.zeros_like(rate))  # <- here


rate = torch.tensor([0.5, 0.0, 0.2, 0.3], requires_grad=True)
cost = torch.tensor([1.0, 3.0, 2.0, 0.5])
objective = (rate * cost).sum() + 0.1 * entropy_term(rate).sum()
objective.backward()  # <- asked
print(objective.item(), rate.grad)
