# expect: GT309
# cause: the exponentials are clamped through .data after exp saved them: the gradient is that of the clamped values
# wrong: not torch.allclose(analytic, rate.grad, rtol=1e-3)
# cure: intensity.data.clamp_(max=2.0) -> pass
import torch

torch.manual_seed(45)
time = torch.linspace(0, 4, 12)
counts = torch.poisson(torch.exp(0.6 * time))
rate = torch.tensor(0.5, requires_grad=True)


def poisson_nll():
    log_intensity = rate * time
    intensity = torch.exp(log_intensity)
    total = intensity.sum()
    if intensity.max() > 2:
        intensity.data.clamp_(max=2.0)  # <- here
    return total - (counts * log_intensity).sum()


loss = poisson_nll()
loss.backward()  # <- asked
analytic = (torch.exp(0.5 * time) * time).sum() - (counts * time).sum()
print(rate.grad, analytic)
