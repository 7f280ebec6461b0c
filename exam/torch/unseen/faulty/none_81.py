# expect: GT201 or GT305 because GT208
# cause: the evaluation at the start of an epoch leaves the mode without gradients on, as it returns before it is restored
# wrong: raises RuntimeError
# cure: return best  # <- here -> torch.set_grad_enabled(previous)\n        return best
import torch


def validate(model, x, y, best):
    previous = torch.is_grad_enabled()
    torch.set_grad_enabled(False)  # <- here
    score = (model(x) - y).abs().max().item()
    if score > best:
        return best  # <- here
    torch.set_grad_enabled(previous)
    return score


torch.manual_seed(0)
model = torch.nn.Bilinear(3, 4, 1)
left, right, y = torch.randn(20, 3), torch.randn(20, 4), torch.randn(20, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
best = 0.001
for epoch in range(3):
    best = validate(lambda x: model(*x), (left, right), y, best)
    loss = torch.nn.functional.huber_loss(model(left, right), y)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
