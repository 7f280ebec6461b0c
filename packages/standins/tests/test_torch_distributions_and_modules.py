"""The PyTorch stand-in: distributions, writes, randomness in vmap, lazy and parametrised layers, what is explained."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from gradtape_standins import standing_in, torch
from gradtape_standins.torch import distributions, nn

# -- distributions


@pytest.mark.parametrize(
    ("made", "mean", "variance"),
    [
        (distributions.Normal(1.0, 2.0), 1.0, 4.0),
        (distributions.Gamma(3.0, 2.0), 1.5, 0.75),
        (distributions.Beta(2.0, 3.0), 0.4, 0.04),
        (distributions.Exponential(0.5), 2.0, 4.0),
        (distributions.Uniform(1.0, 4.0), 2.5, 0.75),
        (distributions.LogNormal(0.0, 0.5), np.exp(0.125), (np.exp(0.25) - 1) * np.exp(0.25)),
        (distributions.Poisson(torch.tensor(3.0)), 3.0, 3.0),
        (distributions.Binomial(10, torch.tensor(0.3)), 3.0, 2.1),
        (distributions.Geometric(torch.tensor(0.4)), 1.5, 3.75),
        (distributions.NegativeBinomial(torch.tensor(4.0), torch.tensor(0.5)), 4.0, 8.0),
        (distributions.Bernoulli(torch.tensor(0.3)), 0.3, 0.21),
    ],
    ids=lambda made: type(made).__name__,
)
def test_draws_have_the_mean_and_the_variance(made: Any, mean: float, variance: float) -> None:
    """Many draws agree with what the distribution says of itself, which is the textbook's."""
    torch.manual_seed(0)
    drawn = made.sample((20_000,)).numpy()
    assert drawn.dtype == np.float32
    np.testing.assert_allclose([float(made.mean), float(made.variance)], [mean, variance], rtol=1e-5)
    np.testing.assert_allclose(drawn.mean(), mean, atol=5 * np.sqrt(variance / 20_000))


def test_draws_move_with_their_parameters() -> None:
    """rsample has the gradient of the transformation: 1 in the location, and the standardised draw in the scale."""
    loc, scale = torch.tensor(1.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    drawn = distributions.Normal(loc, scale).rsample((5,))
    drawn.sum().backward()
    assert loc.grad == 5
    np.testing.assert_allclose(scale.grad.numpy(), ((drawn - 1) / 2).sum().item(), rtol=1e-5)


def test_what_is_asked_for_where_a_draw_is_made_keeps_its_gradient() -> None:
    """Logits that a draw computes first, without recording, are on the graph all the same."""
    weights = torch.tensor([1.0, 3.0], requires_grad=True)
    choice = distributions.Categorical(logits=weights)
    choice.sample()
    with torch.no_grad():
        assert choice.probs.shape == (2,)
    choice.probs[0].backward()
    assert weights.grad is not None


def test_parameters_that_are_none_say_how_to_make_some() -> None:
    """The message names the parameter, the constraint and what makes a free number satisfy it."""
    with pytest.raises(ValueError, match="parameter scale") as caught:
        distributions.Normal(0.0, torch.tensor([1.0, -1.0]))
    assert "GreaterThan(lower_bound=0.0)" in str(caught.value)
    assert "softplus" in str(caught.value)


def test_divergences_of_ones_own_classes() -> None:
    """register_kl adds a rule, and the most special class decides."""

    class Mine(distributions.Normal):
        pass

    distributions.register_kl(Mine, Mine)(lambda p, q: torch.tensor(42.0))
    assert distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)) == 42
    assert distributions.kl_divergence(Mine(0.0, 1.0), distributions.Normal(0.0, 1.0)) == 0


# -- writes


def test_a_leaf_made_of_a_view_stays_a_leaf() -> None:
    """Written under no_grad, it keeps its place on the graph and its gradient; what it is a view of follows."""
    base = torch.arange(4.0)
    leaf = base.reshape(2, 2).requires_grad_()
    with torch.no_grad():
        leaf.mul_(2)
    (leaf**2).sum().backward()
    assert torch.equal(leaf.grad, 2 * leaf.detach())
    assert torch.equal(base, torch.tensor([0.0, 2.0, 4.0, 6.0]))
    with pytest.raises(RuntimeError, match="leaf"):
        leaf.add_(1)


def test_one_of_several_views_is_not_written_to() -> None:
    """PyTorch forbids it while recording; without recording it works."""
    parts = (torch.ones(4, requires_grad=True) * 2).chunk(2)
    with pytest.raises(RuntimeError, match="several views"):
        parts[0].mul_(2)
    with torch.no_grad():
        parts[0].mul_(2)
    assert parts[0].tolist() == [4.0, 4.0]
    torch.ones(4).split(2)[0].mul_(2)


def test_a_stretched_view_is_not_written_to() -> None:
    """Elements that are the same place in memory cannot be different."""
    with pytest.raises(RuntimeError, match="same place in memory"):
        torch.ones(2, 1).expand(2, 3)[:] = 1


def test_copies_of_tensors() -> None:
    """A shallow copy shares the value, a deep one does not; both keep requires_grad."""
    tensor = torch.ones(2, requires_grad=True)
    assert copy.copy(tensor).requires_grad
    assert copy.deepcopy(tensor) is not tensor


# -- vmap and generators


def test_examples_have_numbers_of_their_own_or_the_same() -> None:
    """randomness="different" draws for each example, also from within dictionaries; "same" once."""
    torch.manual_seed(0)
    nested = torch.vmap(lambda d: d["x"] + torch.randn(2), in_dims=({"x": 0},), randomness="different")
    assert nested({"x": torch.zeros(3, 2)}).unique().numel() == 6
    same = torch.vmap(lambda x: x + torch.rand(2), randomness="same")(torch.zeros(3))
    assert same.unique().numel() == 2
    with pytest.raises(RuntimeError, match="randomness"):
        torch.vmap(lambda x: x, randomness="often")


def test_a_failed_map_leaves_random_numbers_as_they_were() -> None:
    """After an error within vmap, functions draw again."""
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.vmap(lambda x: x + torch.rand(1))(torch.zeros(2))
    assert torch.rand(2).shape == (2,)


def test_a_state_that_is_none_is_refused() -> None:
    """set_state takes what get_state has returned, and nothing else."""
    with pytest.raises(TypeError, match="get_state"):
        torch.Generator().set_state(torch.zeros(3, dtype=torch.uint8))


# -- layers


def test_an_optimiser_may_hold_lazy_parameters() -> None:
    """The parameter is the same object before and after its shape is known, so that it is trained."""
    lazy = nn.LazyLinear(2)
    held = lazy.weight
    optimizer = torch.optim.SGD(lazy.parameters(), lr=0.1)
    assert "Uninitialized" in repr(held)
    lazy(torch.ones(1, 3)).sum().backward()
    before = held.detach().clone()
    optimizer.step()
    assert lazy.weight is held
    assert type(lazy) is nn.Linear
    assert not torch.equal(held, before)


def test_rows_of_a_table_are_shortened_in_place() -> None:
    """max_norm shortens the rows that are used, and only those."""
    table = nn.Embedding(3, 2, max_norm=1.0)
    with torch.no_grad():
        table.weight.fill_(3.0)
    looked_up = table(torch.tensor([0, 2]))
    np.testing.assert_allclose(looked_up.norm(dim=1).detach().numpy(), 1.0, rtol=1e-5)
    assert table.weight[1].tolist() == [3.0, 3.0]


def test_a_chain_of_parametrisations_is_undone_in_order() -> None:
    """Two functions one after the other; a value is taken back through both."""

    class Doubled(nn.Module):
        def forward(self, x: Any) -> Any:
            return 2 * x

        def right_inverse(self, x: Any) -> Any:
            return x / 2

    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    for _ in range(2):
        nn.utils.parametrize.register_parametrization(layer, "weight", Doubled())
    assert torch.equal(layer.weight, before)
    assert torch.equal(layer.parametrizations.weight.original, before / 4)
    layer.weight = torch.ones(2, 2)
    assert torch.equal(layer.parametrizations.weight.original, torch.full((2, 2), 0.25))


def test_global_hooks_are_called_for_every_module() -> None:
    """Until they are removed."""
    seen: list[str] = []
    handle = nn.modules.module.register_module_forward_hook(
        lambda module, args, out: seen.append(type(module).__name__)
    )
    nn.Sequential(nn.ReLU())(torch.ones(1))
    handle.remove()
    nn.ReLU()(torch.ones(1))
    assert seen == ["ReLU", "Sequential"]


def test_several_gradients_are_waited_for() -> None:
    """register_multi_grad_hook calls once all have arrived, each time anew."""
    first, second = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    seen: list[Any] = []
    handle = torch.autograd.graph.register_multi_grad_hook((first, second), seen.append)
    for _ in range(2):
        (first * second * 3).sum().backward()
    handle.remove()
    (first * second).sum().backward()
    assert [[gradient.tolist() for gradient in each] for each in seen] == [[[3.0, 3.0], [3.0, 3.0]]] * 2


# -- names


def test_modules_that_pytorch_keeps_apart_are_found() -> None:
    """What PyTorch has in several modules is imported from each of them."""
    with standing_in("torch"):
        from torch.cuda.amp import GradScaler
        from torch.distributions.normal import Normal
        from torch.nn.modules.loss import MSELoss
        from torch.optim.adam import Adam
        from torch.utils.data.dataset import Dataset
    assert (GradScaler, Normal, MSELoss) == (torch.amp.GradScaler, distributions.Normal, nn.MSELoss)
    assert (Adam, Dataset) == (torch.optim.Adam, torch.utils.data.Dataset)


def test_profiles_say_what_to_use() -> None:
    """Marks are accepted; a profile is an explained error."""
    with torch.profiler.record_function("step"):
        assert torch.ones(1).item() == 1
    with pytest.raises(AttributeError, match="cProfile"):
        _ = torch.profiler.profile


# -- names in more than one place


def test_modules_of_pytorch_that_are_kept_elsewhere_are_attributes_too() -> None:
    """What `from torch.distributions.normal import Normal` finds is there without an import as well."""
    assert torch.distributions.normal.Normal is torch.distributions.Normal
    assert torch.utils.data.dataloader.default_collate is torch.utils.data.default_collate
    assert torch.nn.modules.loss.MSELoss is torch.nn.MSELoss
    assert torch.optim.sgd.SGD is torch.optim.SGD


def test_gradients_of_each_example_through_pooling() -> None:
    """vmap of grad through a maximum over windows gives what single calls give."""
    images = torch.arange(32.0).view(2, 1, 1, 4, 4).sin()
    weight = torch.ones(1, 1, 1, 1)

    def loss(weight: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.max_pool2d(torch.nn.functional.conv2d(image, weight), 2).sum()

    together = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(weight, images)
    singly = torch.stack([torch.func.grad(loss)(weight, image) for image in images])
    assert torch.allclose(together, singly)


def test_lbfgs_asks_no_more_often_than_it_may() -> None:
    """The search along a line ends where `max_eval` does."""
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([x], max_iter=20, max_eval=3, line_search_fn="strong_wolfe")
    asked = []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        loss.backward()
        asked.append(loss.item())
        return loss

    optimizer.step(closure)
    assert 2 <= len(asked) <= 4


def test_averages_of_all_parameters_at_once() -> None:
    """`multi_avg_fn` writes the averages; without it they are means."""
    model = torch.nn.Linear(1, 1)
    swa_utils = torch.optim.swa_utils
    moving = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9))
    mean = swa_utils.AveragedModel(model)
    for number in (1.0, 2.0, 4.5):
        torch.nn.init.constant_(model.weight, number)
        moving.update_parameters(model)
        mean.update_parameters(model)
    assert torch.allclose(moving.module.weight, torch.tensor([[0.9 * (0.9 + 0.2) + 0.45]]))
    assert torch.allclose(mean.module.weight, torch.tensor([[2.5]]))


def test_a_graph_that_was_freed_says_so_with_hooks_on_what_it_saved() -> None:
    """Hooks on saved tensors do not hide that a graph is gone."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: saved):
        loss = (x * x).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match=r"second time|freed"):
        loss.backward()
    with (
        torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: 3.0),
        pytest.raises(TypeError, match="unpack_hook"),
    ):
        (x * x).sum().backward()


def test_a_hook_of_an_operation_that_is_several_here_is_refused() -> None:
    """There is no single gradient of each input to tell of, and a wrong one is not told."""
    layer = torch.nn.Linear(2, 1)
    loss = torch.nn.functional.mse_loss(layer(torch.ones(1, 2)), torch.ones(1, 1))
    with pytest.raises(NotImplementedError, match="several operations"):
        loss.grad_fn.register_hook(print)
