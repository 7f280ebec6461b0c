import torch


def huber(x):
    return torch.where(x > 1, 2 * x - 1, x * x)


w = torch.tensor([0.5, 1.5, 2.0], requires_grad=True)
loss = huber(w.abs()).sum()
loss.backward()
assert w.grad.shape == (3,)
