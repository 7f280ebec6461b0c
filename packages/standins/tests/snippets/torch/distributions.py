"""Distributions: densities and their gradients, summaries, divergences, and parameters that are none."""

import torch
from torch.distributions import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    Geometric,
    Gumbel,
    Independent,
    Laplace,
    LogNormal,
    MixtureSameFamily,
    Multinomial,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    OneHotCategorical,
    Pareto,
    Poisson,
    StudentT,
    TransformedDistribution,
    Uniform,
    Weibull,
    kl_divergence,
)
from torch.distributions.transforms import AffineTransform, ExpTransform, TanhTransform

normal = Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0]))
print(normal, normal.batch_shape, normal.event_shape)
print(normal.log_prob(torch.tensor([0.5, 0.5])), normal.cdf(torch.tensor(0.5)), normal.icdf(torch.tensor(0.3)))
print(normal.entropy(), normal.variance, normal.sample((3,)).shape, normal.expand((4, 2)))
mu, sigma = torch.tensor(0.5, requires_grad=True), torch.tensor(2.0, requires_grad=True)
loss = Normal(mu, sigma).log_prob(torch.tensor(1.0))
loss.backward()
print(loss, mu.grad, sigma.grad)
print(Normal(mu, sigma).rsample().requires_grad, Normal(mu, sigma).sample().requires_grad)

point = torch.tensor([0.3])
for distribution in [
    Uniform(torch.tensor([0.0]), torch.tensor([5.0])),
    Beta(torch.tensor([0.5]), torch.tensor([2.0])),
    Gamma(torch.tensor([1.5]), torch.tensor([2.0])),
    Exponential(torch.tensor([2.0])),
    Laplace(torch.tensor([0.0]), torch.tensor([1.0])),
    LogNormal(torch.tensor([0.0]), torch.tensor([0.5])),
    StudentT(torch.tensor([4.0])),
    Gumbel(torch.tensor([1.0]), torch.tensor([2.0])),
    Weibull(torch.tensor([1.0]), torch.tensor([2.0])),
    Pareto(torch.tensor([0.2]), torch.tensor([3.0])),
]:
    print(distribution, distribution.log_prob(point), distribution.mean, distribution.variance, distribution.entropy())
counts = torch.tensor([2.0])
for distribution in [
    Poisson(torch.tensor([3.0])),
    Binomial(10, torch.tensor([0.2])),
    Geometric(torch.tensor([0.3])),
    NegativeBinomial(torch.tensor([3.0]), torch.tensor([0.4])),
]:
    print(distribution.log_prob(counts), distribution.mean, distribution.variance)
coin = Bernoulli(logits=torch.tensor([0.3, -1.0]))
print(coin, coin.probs, coin.log_prob(torch.tensor([1.0, 0.0])), coin.entropy())
dice = Categorical(torch.tensor([[1.0, 1.0, 2.0], [1.0, 0.0, 0.0]]))
print(dice, dice.log_prob(torch.tensor([2, 0])), dice.entropy(), dice.sample((4,)).shape, dice.sample().dtype)
print(OneHotCategorical(torch.tensor([0.25, 0.75])).log_prob(torch.tensor([0.0, 1.0])))
print(Multinomial(5, torch.tensor([1.0, 1.0])).log_prob(torch.tensor([2.0, 3.0])))
shares = Dirichlet(torch.tensor([0.5, 0.5, 1.0]))
print(shares, shares.log_prob(torch.tensor([0.2, 0.3, 0.5])), shares.entropy(), shares.mean)
vector = MultivariateNormal(torch.zeros(2), torch.tensor([[2.0, 0.5], [0.5, 1.0]]))
print(vector.log_prob(torch.ones(2)), vector.entropy(), vector.scale_tril, vector.sample().shape)
joint = Independent(Normal(torch.zeros(3), torch.ones(3)), 1)
print(joint, joint.log_prob(torch.ones(3)), joint.entropy())
mixture = MixtureSameFamily(Categorical(torch.tensor([0.3, 0.7])), Normal(torch.tensor([0.0, 1.0]), torch.ones(2)))
print(mixture.log_prob(torch.tensor(0.5)), mixture.mean, mixture.variance)
moved = TransformedDistribution(Normal(0.0, 1.0), [AffineTransform(1.0, 2.0), ExpTransform()])
print(moved.log_prob(torch.tensor(0.5)))
print(TransformedDistribution(Normal(0.0, 1.0), TanhTransform()).log_prob(torch.tensor(0.5)))

print(kl_divergence(Normal(0.0, 1.0), Normal(1.0, 2.0)), kl_divergence(Gamma(1.0, 2.0), Gamma(2.0, 2.0)))
print(kl_divergence(Beta(1.0, 2.0), Beta(2.0, 2.0)), kl_divergence(dice, Categorical(torch.ones(3))))
print(kl_divergence(vector, MultivariateNormal(torch.ones(2), torch.eye(2))), kl_divergence(joint, joint))
print(kl_divergence(shares, Dirichlet(torch.ones(3))), kl_divergence(Laplace(0.0, 1.0), Laplace(1.0, 2.0)))
print(kl_divergence(Uniform(0.0, 1.0), Uniform(0.5, 2.0)), kl_divergence(Normal(0.0, 1.0), Gamma(1.0, 1.0)))
print(kl_divergence(Gumbel(0.0, 1.0), Gumbel(1.0, 2.0)), kl_divergence(Geometric(0.3), Geometric(0.5)))
for wrong in [
    lambda: Normal(0.0, -1.0),
    lambda: Normal(torch.zeros(2), torch.ones(3)),
    lambda: Categorical(),
    lambda: Bernoulli(torch.tensor(1.5)),
    lambda: Beta(1.0, 1.0).log_prob(torch.tensor(2.0)),
    lambda: dice.log_prob(torch.tensor([3, 0])),
    lambda: dice.rsample(),
    lambda: kl_divergence(dice, normal),
]:
    try:
        print(wrong())
    except Exception as error:
        print(type(error).__name__)
