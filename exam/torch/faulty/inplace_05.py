# expect: GT309
# cause: the values are clamped through .data after exp has saved them: the gradient is silently that of other numbers
# wrong: not torch.allclose(theta.grad, torch.exp(theta) * (torch.exp(theta) < 2))
# cure: scale.data.clamp_(max=2.0)  # <- here -> scale = scale.clamp(max=2.0)
import torch

theta = torch.tensor([-1.0, 0.2, 1.5, 2.0], requires_grad=True)


def bounded_scale(theta):
    scale = torch.exp(theta)
    scale.data.clamp_(max=2.0)  # <- here
    return scale


loss = bounded_scale(theta).sum()
loss.backward()  # <- asked
print("gradient", theta.grad)
