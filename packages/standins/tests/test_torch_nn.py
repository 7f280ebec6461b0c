"""The stand-in for PyTorch: modules, optimisers, data."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import gradtape_standins.torch as torch
from gradtape_standins.torch import nn
from gradtape_standins.torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)


def test_layers_train_gradtapes_numbers() -> None:
    """Parameters start as gradtape's layers start theirs: uniform, within one over the root of the inputs."""
    torch.manual_seed(0)
    layer = nn.Linear(16, 200)
    assert layer.weight.abs().max() <= 0.25
    assert layer.weight.std().item() == pytest.approx(0.25 / np.sqrt(3), rel=0.05)
    assert nn.Linear(2, 2, bias=False).bias is None


@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        (lambda: nn.Conv1d(2, 3, 3), (4, 2, 8), (4, 3, 6)),
        (lambda: nn.Conv3d(1, 2, 2), (1, 1, 3, 3, 3), (1, 2, 2, 2, 2)),
        (lambda: nn.Conv2d(2, 4, 3, padding="same", groups=2), (2, 5, 5), (4, 5, 5)),
        (lambda: nn.ConvTranspose1d(2, 3, 3, stride=2, output_padding=1), (1, 2, 4), (1, 3, 10)),
        (lambda: nn.AdaptiveAvgPool2d((1, 1)), (2, 3, 5, 5), (2, 3, 1, 1)),
        (lambda: nn.MaxPool1d(2), (2, 3, 8), (2, 3, 4)),
        (lambda: nn.Bilinear(3, 3, 2), None, (4, 2)),
        (lambda: nn.InstanceNorm2d(3, affine=True, track_running_stats=True), (2, 3, 4, 4), (2, 3, 4, 4)),
        (lambda: nn.RMSNorm(4), (2, 4), (2, 4)),
        (lambda: nn.PReLU(), (2, 4), (2, 4)),
        (lambda: nn.Unflatten(1, (2, 2)), (3, 4), (3, 2, 2)),
        (lambda: nn.Dropout2d(0.5), (2, 3, 4, 4), (2, 3, 4, 4)),
        (lambda: nn.GRUCell(3, 5), (2, 3), (2, 5)),
        (lambda: nn.ReflectionPad2d((1, 0, 2, 0)), (1, 1, 3, 3), (1, 1, 5, 4)),
        (lambda: nn.PixelShuffle(2), (1, 4, 2, 2), (1, 1, 4, 4)),
        (lambda: nn.Upsample(scale_factor=2), (1, 1, 2, 3), (1, 1, 4, 6)),
        (lambda: nn.Unfold(2), (1, 2, 3, 3), (1, 8, 4)),
        (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2), (3, 2, 4), (3, 2, 4)),
    ],
)
def test_layers_give_shapes_and_gradients(layer: object, shape: object, expected: object) -> None:
    """A layer maps a shape to a shape, and every parameter gets a gradient."""
    module = layer()  # type: ignore[operator]
    inputs = [torch.randn(4, 3), torch.randn(4, 3)] if shape is None else [torch.randn(*shape)]  # type: ignore[misc]
    output = module(*inputs)
    assert tuple(output.shape) == expected
    if any(True for _ in module.parameters()):
        (output * output).sum().backward()
        assert all(p.grad is not None and p.grad.shape == p.shape for p in module.parameters())


def test_load_state_dict_is_all_or_nothing() -> None:
    """A wrong shape or name changes nothing."""
    layer = nn.Linear(2, 1)
    before = layer.weight.clone()
    with pytest.raises(RuntimeError, match="size mismatch"):
        layer.load_state_dict({"weight": torch.ones(1, 2), "bias": torch.ones(5)})
    with pytest.raises(RuntimeError, match="Missing key"):
        layer.load_state_dict({"weight": torch.ones(1, 2)})
    assert torch.equal(layer.weight, before)
    result = layer.load_state_dict({"weight": torch.ones(1, 2), "more": torch.ones(1)}, strict=False)
    assert (result.missing_keys, result.unexpected_keys) == (["bias"], ["more"])
    assert layer.weight.tolist() == [[1.0, 1.0]]


def test_state_dict_shares_numbers_with_the_module() -> None:
    """As in PyTorch, what state_dict holds changes along with the parameters."""
    layer = nn.Linear(1, 1)
    state = layer.state_dict()
    with torch.no_grad():
        layer.weight.fill_(3.0)
    assert state["weight"].item() == 3.0


def test_module_attributes() -> None:
    """Parameters and modules are found by attribute, can be deleted and replaced; wrong types are refused."""
    module = nn.Module()
    module.weight = nn.Parameter(torch.ones(2))
    module.inner = nn.Linear(1, 1)
    module.weight = nn.Parameter(torch.zeros(3))
    assert [name for name, _ in module.named_parameters()] == ["weight", "inner.weight", "inner.bias"]
    with pytest.raises(TypeError, match="Parameter"):
        module.weight = 5.0
    del module.inner
    with pytest.raises(AttributeError, match="inner"):
        _ = module.inner
    with pytest.raises(NotImplementedError, match="forward"):
        module(1)

    class Early(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"super\(\).__init__"):
        Early()


def test_copies_of_modules_are_apart() -> None:
    """deepcopy makes parameters of its own."""
    first = nn.Sequential(nn.Linear(2, 2), nn.LSTM(2, 2))
    second = copy.deepcopy(first)
    with torch.no_grad():
        second[0].weight.zero_()
    assert first[0].weight.abs().sum() > 0
    second[1](torch.ones(1, 1, 2))[0].sum().backward()
    assert first[1].weight_ih_l0.grad is None


def test_double_converts_parameters_in_place() -> None:
    """The parameters stay the same objects, so an optimiser that holds them goes on working."""
    layer = nn.Linear(2, 1)
    weight = layer.weight
    layer.double()
    assert layer.weight is weight
    assert weight.dtype is torch.float64
    assert layer(torch.ones(1, 2, dtype=torch.float64)).dtype is torch.float64


def test_shared_parameters_are_counted_once() -> None:
    """A layer that is used twice has one set of parameters, whose gradients add up."""
    layer = nn.Linear(1, 1, bias=False)
    model = nn.Sequential(layer, layer)
    assert len(list(model.parameters())) == 1
    with torch.no_grad():
        layer.weight.fill_(3.0)
    model(torch.ones(1, 1)).backward()
    assert layer.weight.grad.item() == 6.0


def test_containers_behave_like_lists_and_dictionaries() -> None:
    """Indexing, slicing, appending, deleting, names."""
    model = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
    model.append(nn.Linear(2, 1)).insert(1, nn.Tanh())
    assert [type(m).__name__ for m in model] == ["Linear", "Tanh", "ReLU", "Linear"]
    assert len(model[1:3]) == 2
    del model[1]
    model[1] = nn.Sigmoid()
    assert list(model._modules) == ["0", "1", "2"]
    with pytest.raises(IndexError):
        _ = model[9]
    table = nn.ModuleDict({"a": nn.Linear(1, 1)})
    table["b"] = nn.ReLU()
    assert list(table.keys()) == ["a", "b"]
    assert "a" in table
    del table["a"]
    assert len(table) == 1
    weights = nn.ParameterList([torch.ones(1), nn.Parameter(torch.ones(2))])
    assert [p.shape[0] for p in weights] == [1, 2]
    assert len(nn.ParameterDict({"x": torch.ones(1)})) == 1


def test_dropout_follows_training() -> None:
    """While training, what is left is scaled; in use nothing happens."""
    torch.manual_seed(1)
    layer = nn.Dropout(0.5)
    dropped = layer(torch.ones(1000))
    assert set(dropped.tolist()) == {0.0, 2.0}
    assert torch.equal(layer.eval()(torch.ones(5)), torch.ones(5))
    with pytest.raises(ValueError, match="probability"):
        nn.Dropout(1.5)


def test_initialisers_fill_in_place() -> None:
    """Names with an underscore write numbers of the asked kind, and return the tensor."""
    weight = torch.empty(8, 4)
    assert nn.init.constant_(weight, 2.0) is weight
    assert weight.tolist() == [[2.0] * 4] * 8
    nn.init.orthogonal_(weight)
    assert torch.allclose(weight.T @ weight, torch.eye(4), atol=1e-5)
    nn.init.xavier_uniform_(weight)
    assert weight.abs().max() <= np.sqrt(6 / 12)
    nn.init.kaiming_normal_(weight, nonlinearity="relu")
    nn.init.trunc_normal_(weight, std=1.0)
    assert weight.abs().max() <= 2
    assert nn.init.eye_(torch.empty(2, 2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    parameter = nn.Parameter(torch.ones(2))
    assert nn.init.zeros_(parameter).requires_grad


# -- optimisers


def test_interrupted_training_goes_on_with_the_same_bits() -> None:
    """state_dict of model and optimiser, loaded into fresh ones, continues as if nothing had happened."""

    def made() -> tuple[nn.Module, torch.optim.Optimizer]:
        model = nn.Linear(2, 1)
        return model, torch.optim.Adam(model.parameters(), lr=0.1)

    def step(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad()
        (model(torch.ones(3, 2)) ** 2).sum().backward()
        optimizer.step()

    model, optimizer = made()
    step(model, optimizer)
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state = copy.deepcopy(optimizer.state_dict())
    step(model, optimizer)
    other, other_optimizer = made()
    other.load_state_dict(weights)
    other_optimizer.load_state_dict(state)
    step(other, other_optimizer)
    assert torch.equal(model.weight, other.weight)


def test_parameters_without_a_gradient_stay() -> None:
    """A step leaves out what has no gradient."""
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    optimizer = torch.optim.SGD([a, b], lr=0.5)
    optimizer.step()
    (a * 2).sum().backward()
    optimizer.step()
    assert a.tolist() == [0.0, 0.0]
    assert b.tolist() == [1.0, 1.0]


def test_optimiser_refuses_what_it_cannot_train() -> None:
    """Empty lists, computed tensors, wrong options and types are explained."""
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="empty"):
        torch.optim.SGD([], lr=0.1)
    with pytest.raises(ValueError, match="non-leaf"):
        torch.optim.SGD([x * 2], lr=0.1)
    with pytest.raises(ValueError, match="lr=-1"):
        torch.optim.SGD([x], lr=-1)
    with pytest.raises(TypeError, match="iterable"):
        torch.optim.SGD(x, lr=0.1)
    with pytest.raises(TypeError, match="no option"):
        torch.optim.Adam([x], momentum=0.9)
    with pytest.raises(ValueError, match="more than one"):
        torch.optim.SGD([{"params": [x]}, {"params": [x]}], lr=0.1)


def test_step_calls_a_closure() -> None:
    """The loss that a closure returns is what step returns."""
    x = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=0.1)

    def closure() -> object:
        optimizer.zero_grad()
        loss = (x * 3).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 3.0
    assert x.item() == pytest.approx(0.7)


def test_optimiser_of_the_users_own() -> None:
    """A subclass of Optimizer with a step of its own works on the groups."""

    class Signs(torch.optim.Optimizer):
        def __init__(self, params: object, lr: float) -> None:
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(torch.sign(p.grad), alpha=-group["lr"])

    x = torch.tensor([1.0, -1.0], requires_grad=True)
    optimizer = Signs([x], lr=0.25)
    (x * x).sum().backward()
    optimizer.step()
    assert x.tolist() == [0.75, -0.75]


def test_gradients_are_clipped() -> None:
    """By norm, with the norm before as the answer, and by value."""
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    (x * x).sum().backward()
    assert nn.utils.clip_grad_norm_([x], 1.0).item() == pytest.approx(10.0)
    assert x.grad.norm().item() == pytest.approx(1.0, rel=1e-5)
    nn.utils.clip_grad_value_([x], 0.1)
    assert x.grad.max().item() == pytest.approx(0.1)
    vector = nn.utils.parameters_to_vector([x])
    nn.utils.vector_to_parameters(vector * 2, [x])
    assert x.tolist() == [6.0, 8.0]


def test_plateau_lowers_the_rate() -> None:
    """A metric that does not improve lowers the learning rate after the patience is over."""
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    for loss in (1.0, 1.0, 1.0, 1.0):
        scheduler.step(loss)
    assert scheduler.get_last_lr() == [0.5]


def test_one_cycle_moves_momentum_against_the_rate() -> None:
    """Momentum is lowest where the rate is highest, and back at the end."""
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.5, total_steps=8)
    seen = []
    for _ in range(7):
        optimizer.step()
        scheduler.step()
        seen.append(round(optimizer.param_groups[0]["momentum"], 6))
    assert seen == [0.868826, 0.852806, 0.868826, 0.894402, 0.921694, 0.942336, 0.95]


@pytest.mark.parametrize(
    "call",
    [
        lambda: nn.Embedding(3, 2, scale_grad_by_freq=True),
        lambda: nn.MultiheadAttention(4, 2, add_zero_attn=True),
        lambda: nn.functional.interpolate(torch.ones(1, 1, 2, 2), scale_factor=2, mode="bicubic", antialias=True),
    ],
)
def test_options_that_are_not_there_are_refused(call: object) -> None:
    """An option that would change the numbers is never ignored in silence."""
    with pytest.raises(NotImplementedError, match="stand-in"):
        call()  # type: ignore[operator]


# -- functions of modules


def test_ensembles_of_modules() -> None:
    """stack_module_state and vmap of functional_call give what the single modules give."""
    models = [nn.Linear(2, 1) for _ in range(3)]
    parameters, buffers = torch.func.stack_module_state(models)
    x = torch.randn(4, 2)

    def one(parameters: object, buffers: object) -> object:
        return torch.func.functional_call(models[0], (parameters, buffers), (x,))

    together = torch.func.vmap(one)(parameters, buffers)
    assert torch.allclose(together, torch.stack([model(x) for model in models]), atol=1e-6)
    with pytest.raises(RuntimeError, match="no parameter"):
        torch.func.functional_call(models[0], {"absent": x}, (x,), strict=True)


def test_checkpoint_gives_the_same_gradient() -> None:
    """What is computed again on the way back is what was computed."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.utils.checkpoint.checkpoint(lambda t: torch.sin(t) * t, x, use_reentrant=False).sum().backward()
    assert torch.allclose(x.grad, torch.cos(x) * x + torch.sin(x))


# -- data


def test_samplers_and_splits_cover_the_data() -> None:
    """Every example once, in whatever order; shares are rounded so that nothing is lost."""
    data = TensorDataset(torch.arange(10))
    assert sorted(RandomSampler(data)) == sorted(SequentialSampler(data)) == list(range(10))
    assert sorted(SubsetRandomSampler([3, 5])) == [3, 5]
    assert set(WeightedRandomSampler([0.0, 1.0], 8)) == {1}
    assert list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    parts = random_split(data, [0.5, 0.25, 0.25])
    assert [len(part) for part in parts] == [6, 2, 2]
    assert sorted(index for part in parts for index in part.indices) == list(range(10))
    with pytest.raises(ValueError, match="does not equal"):
        random_split(data, [3, 3])
    both = ConcatDataset([data, data])
    assert both[12][0].item() == 2
    with pytest.raises(IndexError):
        _ = both[20]
    with pytest.raises(AssertionError, match="mismatch"):
        TensorDataset(torch.ones(2), torch.ones(3))


def test_loader_takes_iterables_and_own_collation() -> None:
    """Datasets without numbers, functions that put examples together, and no batches at all."""

    class Stream(IterableDataset):
        def __iter__(self) -> object:
            return iter([torch.tensor(1.0), torch.tensor(2.0), torch.tensor(3.0)])

    assert [batch.tolist() for batch in DataLoader(Stream(), batch_size=2)] == [[1.0, 2.0], [3.0]]
    assert list(DataLoader([1, 2, 3], batch_size=2, collate_fn=sum)) == [3, 3]
    assert [x.item() for x in DataLoader(torch.arange(3), batch_size=None)] == [0, 1, 2]
    with pytest.raises(ValueError, match="mutually exclusive"):
        DataLoader([1], sampler=[0], shuffle=True)
    with pytest.raises(TypeError, match="found"):
        next(iter(DataLoader([object()])))
    with pytest.raises(NotImplementedError):
        _ = Dataset()[0]


def test_backward_hooks_see_and_change_gradients() -> None:
    """A module's backward hooks are told once what arrives and what leaves, and may replace it."""
    layer = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.ones_(layer.weight)
    told: list[tuple[object, object]] = []

    def double(module: object, grad_input: tuple[torch.Tensor, ...], grad_output: object) -> tuple[torch.Tensor, ...]:
        told.append((grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] * 2,)

    handle = layer.register_full_backward_hook(double)
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    layer(x).sum().backward()
    assert told == [([[1.0, 1.0]], [[1.0]])]
    assert x.grad.tolist() == [[2.0, 2.0]]
    handle.remove()
    layer(x).sum().backward()
    assert len(told) == 1


def test_adam_goes_on_from_a_state_under_pytorchs_names() -> None:
    """What an optimiser keeps has PyTorch's names, and another one goes on from it with the same numbers."""
    first, second = (torch.tensor([1.0, -2.0], requires_grad=True) for _ in range(2))
    one = torch.optim.Adam([first], lr=0.1)
    for _ in range(2):
        first.grad = first.detach() * 2
        one.step()
    kept = one.state_dict()["state"][0]
    assert sorted(kept) == ["exp_avg", "exp_avg_sq", "step"]
    other = torch.optim.Adam([second], lr=0.5)
    other.load_state_dict(one.state_dict())
    second.data = first.detach().clone()
    for parameter, optimiser in ((first, one), (second, other)):
        parameter.grad = torch.ones(2)
        optimiser.step()
    assert first.tolist() == second.tolist()
