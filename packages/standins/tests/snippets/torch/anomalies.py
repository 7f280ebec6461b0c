"""NaNs: where they come from, and how they are found."""

import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = torch.sqrt(x) * x
y.sum().backward()
print(x.grad)
try:
    with torch.autograd.detect_anomaly(check_nan=True):
        z = torch.sqrt(torch.tensor(-1.0, requires_grad=True))
        z.backward()
except RuntimeError:
    print("a NaN was found")
w = torch.tensor([1.0, float("nan")])
print(torch.isnan(w), torch.nan_to_num(w), w.nansum())
masked = torch.where(x > 0, x.clamp(min=0.5).log(), torch.zeros_like(x))
x.grad = None
masked.sum().backward()
print(x.grad)
