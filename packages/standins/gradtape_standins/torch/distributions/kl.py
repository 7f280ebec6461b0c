"""`torch.distributions.kl`: the divergence between two distributions, by their classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.stats import divergences
from gradtape_standins.missing_names import missing
from gradtape_standins.torch import creation
from gradtape_standins.torch.distributions import continuous, discrete, multivariate
from gradtape_standins.torch.distributions.composed import Independent, sum_of_last
from gradtape_standins.torch.distributions.distribution import Distribution, computed

__all__ = ["kl_divergence", "register_kl"]

_RULES: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}
Rule = Callable[[Any, Any], Any]


def register_kl(type_p: type, type_q: type) -> Callable[[Rule], Rule]:
    """Have a function for two classes of distributions."""

    def decorate(rule: Rule) -> Rule:
        _RULES[type_p, type_q] = rule
        return rule

    return decorate


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The mean of log(p / q) under p.

    >>> from gradtape_standins.torch.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 2.0))
    tensor(0.4431)
    """
    found = [
        (type(p).__mro__.index(of_p) + type(q).__mro__.index(of_q), rule)
        for (of_p, of_q), rule in _RULES.items()
        if isinstance(p, of_p) and isinstance(q, of_q)
    ]
    if found:
        return min(found, key=lambda pair: pair[0])[1](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}.\n"
        "  fix: x = p.rsample((1000,)); (p.log_prob(x) - q.log_prob(x)).mean()"
    )


def _same(kind: Any, formula: Callable[..., Any], *parameters: str) -> None:
    def rule(p: Any, q: Any) -> Any:
        given = [getattr(each, name) for each in (p, q) for name in parameters]
        return computed(formula, *given, label="MulBackward0")

    register_kl(kind, kind)(rule)


_same(continuous.Normal, divergences.normal, "loc", "scale")
_same(continuous.Laplace, divergences.laplace, "loc", "scale")
_same(continuous.Cauchy, divergences.cauchy, "loc", "scale")
_same(continuous.Gumbel, divergences.gumbel, "loc", "scale")
_same(continuous.LogNormal, divergences.normal, "loc", "scale")
_same(continuous.HalfNormal, divergences.half_normal, "scale")
_same(continuous.Uniform, divergences.uniform, "low", "high")
_same(continuous.Exponential, divergences.exponential, "rate")
_same(continuous.Gamma, divergences.gamma, "concentration", "rate")
_same(continuous.Beta, divergences.beta, "concentration1", "concentration0")
_same(continuous.Pareto, divergences.pareto, "scale", "alpha")
_same(discrete.Bernoulli, divergences.bernoulli, "probs")
_same(discrete.Geometric, divergences.geometric, "probs")
_same(discrete.Poisson, divergences.poisson, "rate")
_same(discrete.Categorical, divergences.categorical, "probs")
_same(discrete.OneHotCategorical, divergences.categorical, "probs")
_same(multivariate.Dirichlet, divergences.dirichlet, "concentration")
_same(multivariate.MultivariateNormal, divergences.multivariate_normal, "loc", "scale_tril")


@register_kl(discrete.Binomial, discrete.Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if bool((p.total_count > q.total_count).any()):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    return p.total_count * computed(divergences.bernoulli, p.probs, q.probs)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("Independent: both have to take as many axes for those of a draw")
    return sum_of_last(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


def _beyond(p: Any, q: Any) -> Any:
    """Infinite: p gives values that q never does."""
    return creation.full(tuple(p.batch_shape), float("inf"))


_LINE = (continuous.Normal, continuous.Laplace, continuous.Gumbel)
_HALF = (continuous.Exponential, continuous.Gamma)
_BOUNDED = (continuous.Beta, continuous.Uniform, continuous.Pareto)
for _wide in _LINE:
    for _narrow in (*_HALF, *_BOUNDED):
        register_kl(_wide, _narrow)(_beyond)
for _wide in _HALF:
    for _narrow in _BOUNDED:
        register_kl(_wide, _narrow)(_beyond)

__getattr__ = missing(__name__)
