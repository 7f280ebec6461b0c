# expect: GT314 or GT310 or GT312
# cause: the piecewise function asks one yes or no of a whole batch of numbers
# wrong: raises RuntimeError
# cure: if x > 1:  # <- here\n        return 2 * x - 1\n    return x * x -> return torch.where(x > 1, 2 * x - 1, x * x)
import torch


def huber(x):
    if x > 1:  # <- here
        return 2 * x - 1
    return x * x


w = torch.tensor([0.5, 1.5, 2.0], requires_grad=True)
loss = huber(w.abs()).sum()  # <- asked
loss.backward()
