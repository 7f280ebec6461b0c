"""Distributions with a temperature, of angles, of low rank; functions from all numbers to regions."""

import torch
from torch.distributions import (
    HalfCauchy,
    Kumaraswamy,
    LowRankMultivariateNormal,
    OneHotCategoricalStraightThrough,
    Poisson,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    VonMises,
    biject_to,
    constraints,
    transform_to,
)
from torch.distributions.transforms import SoftmaxTransform, StickBreakingTransform

value = torch.tensor([0.3, 0.7])
probs = torch.tensor([0.4, 0.6], requires_grad=True)
for distribution in (
    RelaxedBernoulli(torch.tensor(0.5), probs=probs),
    RelaxedOneHotCategorical(torch.tensor(0.5), probs=probs),
    HalfCauchy(torch.tensor([1.0, 2.0])),
    VonMises(torch.tensor(0.5), torch.tensor(2.0)),
    Kumaraswamy(torch.tensor(2.0), torch.tensor(3.0)),
    LowRankMultivariateNormal(torch.zeros(2), torch.tensor([[1.0], [2.0]]), torch.ones(2)),
):
    print(type(distribution).__name__, distribution.log_prob(value).detach(), distribution.sample().shape)
RelaxedOneHotCategorical(torch.tensor(0.5), probs=probs).log_prob(value).backward()
print(probs.grad)
drawn = RelaxedBernoulli(torch.tensor(0.5), probs=probs).rsample((3,))
print(drawn.shape, drawn.requires_grad, bool(((drawn > 0) & (drawn < 1)).all()))
hard = OneHotCategoricalStraightThrough(probs=probs).rsample()
print(hard.sum().item(), hard.requires_grad)
print(HalfCauchy(1.0).cdf(value), HalfCauchy(1.0).icdf(value), HalfCauchy(1.0).entropy(), HalfCauchy(1.0).mean)
print(VonMises(0.0, 1.0).variance, Kumaraswamy(2.0, 3.0).mean, Kumaraswamy(2.0, 3.0).entropy())
try:
    Poisson(3.0).entropy()
except NotImplementedError:
    print("NotImplementedError")
x = torch.tensor([0.2, -0.5, 1.0])
stick = StickBreakingTransform()
print(stick(x), stick.inv(stick(x)), stick.log_abs_det_jacobian(x, stick(x)), SoftmaxTransform()(x))
for constraint in (constraints.real, constraints.positive, constraints.interval(-1.0, 2.0), constraints.unit_interval):
    print(transform_to(constraint)(x), biject_to(constraint).inv(biject_to(constraint)(x)))
print(transform_to(constraints.simplex)(x), biject_to(constraints.simplex)(x))
print(transform_to(constraints.lower_cholesky)(torch.arange(4.0).view(2, 2)))
