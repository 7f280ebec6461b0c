# expect: GT201 or GT205 or GT202 because GT205
# cause: moving the leaf to double precision gives a new tensor under the same name, so that .grad of it stays None
# wrong: params["slope"].grad is None
# cure: torch.ones(3, requires_grad=True).double() -> torch.ones(3, dtype=torch.double, requires_grad=True)
import torch

torch.manual_seed(0)
t = torch.linspace(0, 1, 20, dtype=torch.double)
basis = torch.stack([t, t**2, t.sin()], dim=1)
observed = basis @ torch.tensor([0.3, -1.0, 2.0], dtype=torch.double)
params = {
    "slope": torch.ones(3, requires_grad=True).double(),  # <- here
    "offset": torch.zeros(1, dtype=torch.double, requires_grad=True),
}
residual = basis @ params["slope"] + params["offset"] - observed
energy = residual.dot(residual)
energy.backward()  # <- asked
for name, p in params.items():
    print(name, p.grad)  # <- asked
