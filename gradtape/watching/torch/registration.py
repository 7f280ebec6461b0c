"""Parameters, the modules that register them, and those that get a gradient and that no optimiser has."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Sequence
from itertools import count
from types import FrameType
from typing import Any, NamedTuple

import torch

from gradtape.core.location import Location, is_library
from gradtape.explain.graph import paths
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, Span, source_edit
from gradtape.explain.source.expression import replace_span, site_at
from gradtape.explain.source.files import one_line, span_of
from gradtape.watching.torch.recorder import TorchRecorder, is_plain, leaves_behind, node_of

_TORCH = torch.__path__[0]
MODULES_AT_MOST = 5000
PARAMETERS_AT_MOST = 1 << 16


class Registered(NamedTuple):
    """A parameter of a module: its name there, and where the user's program made it."""

    module: weakref.ref[Any]
    name: str
    location: Location
    by_user: bool  # whether the line that made the layer is the user's, not that of a package with models in it
    number: int


class Registry:
    """The parameters of all modules that were made while watching."""

    def __init__(self) -> None:
        self._parameters: dict[int, tuple[weakref.ref[Any], Registered]] = {}
        self._numbers = count(1)
        self._made: dict[int, tuple[weakref.ref[Any], int]] = {}
        self.modules: weakref.WeakSet[Any] = weakref.WeakSet()

    def add(self, module: Any, name: str, parameter: Any) -> None:
        """A module got a parameter."""
        self.modules.add(module)
        if parameter is None:
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and _is_plumbing(frame.f_code.co_filename):
            frame = frame.f_back
        by_user = frame is not None and not is_library(frame.f_code.co_filename)
        while frame is not None and is_library(frame.f_code.co_filename):
            frame = frame.f_back
        location = Location(None, 0) if frame is None else Location(frame.f_code, frame.f_lasti)
        number = next(self._numbers)
        self._parameters[id(parameter)] = (
            weakref.ref(parameter),
            Registered(weakref.ref(module), name, location, by_user, number),
        )

    def note_made(self, parameter: Any) -> None:
        """`nn.Parameter(...)` was called; a copied module does not register its parameters."""
        if len(self._made) < PARAMETERS_AT_MOST:
            self._made[id(parameter)] = weakref.ref(parameter), next(self._numbers)

    def is_made_after(self, parameter: Any, number: int) -> bool:
        """Whether a parameter was made after all that were registered up to this number."""
        entry = self._made.get(id(parameter))
        return entry is not None and entry[0]() is parameter and entry[1] > number

    def find(self, parameter: Any) -> Registered | None:
        """What is known of a parameter."""
        entry = self._parameters.get(id(parameter))
        return entry[1] if entry is not None and entry[0]() is parameter else None

    def frozen_parameters(self) -> dict[int, Registered]:
        """The parameters that require no gradient, by their memory."""
        return {
            parameter.data_ptr(): known
            for reference, known in self._parameters.values()
            if (parameter := reference()) is not None and not parameter.requires_grad and parameter.numel()
        }

    def frozen_now(self) -> list[weakref.ref[Any]]:
        """The parameters that require no gradient now."""
        return [
            reference
            for reference, _ in self._parameters.values()
            if (parameter := reference()) is not None and not parameter.requires_grad
        ]

    @property
    def last(self) -> int:
        """The number of the parameter that was registered last."""
        return max((entry[1].number for entry in self._parameters.values()), default=0)

    def parents(self) -> dict[int, list[tuple[str, Any]]]:
        """For each module, those that it is registered in, with its name there."""
        found: dict[int, list[tuple[str, Any]]] = {}
        for module in self.all_modules():
            for name, child in module._modules.items():
                if child is not None:
                    found.setdefault(id(child), []).append((name, module))
        return found

    def all_modules(self) -> list[Any]:
        """The modules that are alive."""
        known = {id(module): module for module in list(self.modules)}
        for module in _live_modules():
            known.setdefault(id(module), module)
        return list(known.values())[:MODULES_AT_MOST]

    def is_of_twin(self, parameter: Any, others: Sequence[Any]) -> bool:
        """Whether `others` are the parameters of a copy, or another instance, of the model that a parameter is of."""
        shapes = [other.shape for other in others]
        for module in self.all_modules():
            own = list(torch.nn.Module.parameters(module))
            if any(each is parameter for each in own) and [each.shape for each in own] == shapes:
                return not {id(each) for each in own} & {id(other) for other in others}
        return False

    def path_of(self, parameter: Any, parents: dict[int, list[tuple[str, Any]]] | None = None) -> str:
        """`Net.layers.0.weight`: the class of the outermost module, and the way from it to the parameter."""
        known = self.find(parameter)
        module = None if known is None else known.module()
        if known is None or module is None:
            return ""
        parents = self.parents() if parents is None else parents
        names = [known.name]
        for _ in range(32):
            above = parents.get(id(module))
            if not above:
                break
            names.append(above[0][0])
            module = above[0][1]
        return ".".join([type(module).__name__, *reversed(names)])


def _is_plumbing(filename: str) -> bool:
    return filename.startswith(_TORCH) or "/gradtape/" in filename.replace("\\", "/")


def _live_modules() -> Iterator[Any]:
    """Modules among the variables of the functions that are running, and their modules."""
    frame: FrameType | None = sys._getframe(1)
    seen: set[int] = set()
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            for names in (frame.f_locals, frame.f_globals):
                if id(names) in seen:
                    continue
                seen.add(id(names))
                for value in list(names.values()):
                    if isinstance(value, torch.nn.Module):
                        yield from torch.nn.Module.modules(value)
        frame = frame.f_back


class Untrained:
    """A leaf that got a gradient: where, and whether the module it belongs to comes before what is trained."""

    def __init__(self, leaf: Any, run: Any, recorder: TorchRecorder, optimised: set[int], registry: Registry) -> None:
        self.leaf = weakref.ref(leaf)
        self.is_parameter = isinstance(leaf, torch.nn.Parameter)
        self.location = run.location
        record = recorder.record_of(leaf)
        self.made = Location(None, 0) if record is None else record.location
        self.follows_trained = id(leaf) not in optimised and _follows_trained(leaf, run, recorder, optimised)
        self.number = registry.last
        self.passes = 1  # that gave it a gradient
        self.precedes_step = False  # whether the last pass before a step gave it one
        self._reached_with = {id(other) for other in run.leaves}
        write = recorder.last_write(leaf)
        self.is_fresh = write is None or not write.operation.endswith(("copy_", ".data", ".step"))

    def is_of_training(self, optimised: set[int]) -> bool:
        """Whether its gradient belongs to steps that are made, and was not computed once, to be looked at."""
        return self.passes > 1 or self.precedes_step or bool(self._reached_with & optimised)


def _follows_trained(leaf: Any, run: Any, recorder: TorchRecorder, optimised: set[int]) -> bool:
    """Whether what a leaf is used with was computed from parameters that an optimiser has."""
    goal = recorder.record_of(leaf)
    trained = {recorder.record_of(other) for other in run.leaves if id(other) in optimised}
    behind: dict[Any, None] = {}
    for start in run.records:
        paths.all_behind(start, behind)
    for record in behind:
        if goal in record.parents:
            reached: dict[Any, None] = {}
            for parent in record.parents:
                if parent is not goal and parent.is_tracked:
                    paths.all_behind(parent, reached)
            if trained & set(reached):
                return True
    return False


def unregistered(
    entries: Sequence[Untrained], registry: Registry, optimisers: Sequence[Any], optimised: set[int]
) -> Iterator[tuple[int, Problem]]:
    """Problems for leaves that get gradients and are in no optimiser, with the leaf; one for all of them."""
    if not entries:
        return
    parents = registry.parents()
    modules = registry.all_modules()
    told: set[str] = set()
    for entry in entries:
        leaf = entry.leaf()
        if leaf is None or not leaf.requires_grad:
            continue
        found = (
            _in_plain_container(leaf, entry, registry, modules)
            or _plain_tensor(leaf, entry, modules)
            or _computed_attribute(leaf, entry, modules)
            or _made_later(leaf, entry, registry, parents, optimisers, optimised)
            or _not_given(leaf, entry, registry, parents, optimisers, optimised)
        )
        if found is not None and found.code not in told:
            told.add(found.code)
            yield id(leaf), found


def _optimiser_span(optimisers: Sequence[Any]) -> list[Span]:
    """Where an optimiser was made: first, as the mistaken one, one that has nothing but parameters of others."""
    made = [state for state in optimisers if state.location is not None]
    seen: set[int] = set()
    repeated = []
    for state in made:
        given = {id(p) for p in state.parameters()}
        if given and given <= seen:
            repeated.append(state)
        seen |= given
    words = "the optimiser is made here" + (", of parameters that another one has" if repeated else "")
    return [span_of(state.location).labelled(words) for state in (repeated or made)[:1]]


def _in_plain_container(leaf: Any, entry: Untrained, registry: Registry, modules: Sequence[Any]) -> Problem | None:
    """A layer or parameter in a list or dictionary of a module, which does not look into those."""
    known = registry.find(leaf)
    owner_of_leaf = None if known is None else known.module()
    for module in modules:
        for attribute, held in list(vars(module).items()):
            if attribute.startswith("_") or not isinstance(held, list | tuple | dict):
                continue
            parts = list(held.values()) if isinstance(held, dict) else list(held)
            is_layer = any(
                isinstance(part, torch.nn.Module)
                and owner_of_leaf is not None
                and any(inner is owner_of_leaf for inner in torch.nn.Module.modules(part))
                for part in parts
            )
            is_parameter = any(part is leaf for part in parts)
            if not is_layer and not is_parameter:
                continue
            kind = type(held).__name__
            right = (
                ("ModuleDict" if isinstance(held, dict) else "ModuleList")
                if is_layer
                else ("ParameterDict" if isinstance(held, dict) else "ParameterList")
            )
            what = "layers" if is_layer else "parameters"
            location = known.location if known is not None and known.location.is_known else entry.made
            return problem(
                "GT513",
                f"the {what} in the {kind} {type(module).__name__}.{attribute} are not parameters of the module: no "
                "optimiser gets them",
                spans=[
                    span_of(location).labelled("made here"),
                    span_of(entry.location).labelled("get a gradient here"),
                ],
                consequence="they get gradients and never change",
                fixes=[*_wrap_container(location, attribute, right), f"nn.{right} instead of a {kind}"],
                intent="gt.explain.configure(GT513='off')",
            )
    return None


def _wrap_container(location: Location, attribute: str, right: str) -> list[Fix]:
    """`nn.ModuleList([...])` in the place of `[...]`, where the line assigns that."""
    import ast

    site = site_at(location)
    statement = None if site.node is None else site.source.statement(site.node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target = statement.targets[0]
    if not isinstance(target, ast.Attribute) or target.attr != attribute:
        return []
    span = site.source.span(statement.value)
    prefix = next((name for name, module in site.source.imports.items() if module == "torch.nn"), "torch.nn")
    return [source_edit(f"{prefix}.{right}({one_line(span.text)})", span)]


def _plain_tensor(leaf: Any, entry: Untrained, modules: Sequence[Any]) -> Problem | None:
    """A tensor with requires_grad that is an attribute of a module and no Parameter."""
    if entry.is_parameter:
        return None
    for module in modules:
        for attribute, held in module._buffers.items():
            if held is leaf:
                return _buffer_problem(module, attribute, entry)
        for attribute, held in list(vars(module).items()):
            if held is leaf:
                made = span_of(entry.made).labelled("made here")
                return problem(
                    "GT513",
                    f"{type(module).__name__}.{attribute} is a tensor and no nn.Parameter: it is not among "
                    "parameters(), and no optimiser gets it",
                    spans=[made, span_of(entry.location).labelled("gets a gradient here")],
                    consequence="it gets gradients and never changes",
                    fixes=[
                        *_as_parameter(entry.made, attribute),
                        f"self.{attribute} = nn.Parameter(...) registers it",
                    ],
                    intent="gt.explain.configure(GT513='off')",
                )
    return None


def _computed_attribute(leaf: Any, entry: Untrained, modules: Sequence[Any]) -> Problem | None:
    """A tensor that a module computed from a Parameter and keeps: `self.scale = nn.Parameter(torch.ones(3)) * 0.1`."""
    for module in modules:
        for attribute, held in list(vars(module).items()):
            node = node_of(held) if is_plain(held) else None
            if node is None or not any(behind is leaf for behind in leaves_behind([node])[0]):
                continue
            if any(own is leaf for own in torch.nn.Module.parameters(module)):
                continue  # a cache of what is computed from its own parameters
            return problem(
                "GT513",
                f"{type(module).__name__}.{attribute} is computed from a Parameter and is none itself: it is not among "
                "parameters(), and no optimiser gets it",
                spans=[span_of(entry.made).labelled("made here"), span_of(entry.location).labelled("used here")],
                consequence="the Parameter inside gets gradients and never changes",
                fixes=[
                    *_parameter_last(entry.made, attribute),
                    f"make the Parameter the last step: self.{attribute} = nn.Parameter(torch.ones(3) * 0.1)",
                ],
            )
    return None


def _parameter_last(location: Location, attribute: str) -> list[Fix]:
    """`nn.Parameter(torch.ones(3) * 0.1)` in the place of `nn.Parameter(torch.ones(3)) * 0.1`."""
    import ast

    site = site_at(location)
    statement = None if site.node is None else site.source.statement(site.node)
    if not isinstance(statement, ast.Assign) or getattr(statement.targets[0], "attr", "") != attribute:
        return []
    made = [
        node
        for node in ast.walk(statement.value)
        if isinstance(node, ast.Call) and site.source.text(node.func).rpartition(".")[2] == "Parameter"
    ]
    if len(made) != 1 or len(made[0].args) != 1 or made[0].keywords:
        return []
    span = site.source.span(statement.value)
    text = replace_span(span, site.source.span(made[0]), site.source.text(made[0].args[0]))
    name = site.source.text(made[0].func)
    return [] if text is None or "\n" in text else [source_edit(f"{name}({text})", span)]


def _buffer_problem(module: Any, attribute: str, entry: Untrained) -> Problem:
    """A buffer that requires a gradient: it is saved with the module, and is none of its parameters."""
    import ast

    site = site_at(entry.made)
    statement = None if site.node is None else site.source.statement(site.node)
    call = statement.value if isinstance(statement, ast.Expr) else None
    fixes: list[Fix] = []
    if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "register_buffer" and len(call.args) > 1:
        value = call.args[1]
        if isinstance(value, ast.Call):
            kept = ast.Call(value.func, value.args, [k for k in value.keywords if k.arg != "requires_grad"])
            inner = ast.unparse(ast.fix_missing_locations(kept))
            prefix = next((name for name, held in site.source.imports.items() if held == "torch.nn"), "torch.nn")
            owner = site.source.text(call.func.value) if isinstance(call.func, ast.Attribute) else "self"
            span = site.source.span(call)
            fixes = [source_edit(f"{owner}.{attribute} = {prefix}.Parameter({one_line(inner)})", span)]
    return problem(
        "GT513",
        f"{type(module).__name__}.{attribute} is a buffer that requires a gradient: it is not among parameters(), and "
        "no optimiser gets it",
        spans=[span_of(entry.made).labelled("made here"), span_of(entry.location).labelled("gets a gradient here")],
        consequence="it gets gradients and never changes",
        fixes=[*fixes, f"self.{attribute} = nn.Parameter(...) registers it as one"],
        intent="a buffer without requires_grad for what is not to be learnt",
    )


def _as_parameter(location: Location, attribute: str) -> list[Fix]:
    """`nn.Parameter(torch.ones(1))` in the place of `torch.ones(1, requires_grad=True)`."""
    import ast

    site = site_at(location)
    statement = None if site.node is None else site.source.statement(site.node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return []
    target = statement.targets[0]
    if not isinstance(target, ast.Attribute) or target.attr != attribute:
        return []
    call = statement.value
    span = site.source.span(call)
    prefix = next((name for name, module in site.source.imports.items() if module == "torch.nn"), "torch.nn")
    if any(keyword.arg == "requires_grad" for keyword in call.keywords):
        kept = ast.Call(call.func, call.args, [k for k in call.keywords if k.arg != "requires_grad"])
        inner = ast.unparse(ast.fix_missing_locations(kept))
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_":
        inner = site.source.text(call.func.value)
    else:
        return []
    return [source_edit(f"{prefix}.Parameter({one_line(inner)})", span)]


def _made_later(
    leaf: Any,
    entry: Untrained,
    registry: Registry,
    parents: dict[int, list[tuple[str, Any]]],
    optimisers: Sequence[Any],
    optimised: set[int],
) -> Problem | None:
    """A parameter that was made after all optimisers, of a model of which they have others."""
    known = registry.find(leaf)
    if known is None or any(state.registered >= known.number for state in optimisers):
        return None
    root = root_of(known.module(), parents)
    if root is None or not any(id(p) in optimised for p in torch.nn.Module.parameters(root)):
        return None
    name = registry.path_of(leaf, parents)
    return problem(
        "GT513",
        f"{name} was made after the optimiser, which does not have it",
        spans=[span_of(known.location).labelled("made here"), *_optimiser_span(optimisers)],
        consequence="it gets gradients and never changes; the optimiser holds what was there before",
        fixes="make the optimiser when the model is complete; or optimizer.add_param_group({'params': ...})",
        intent="gt.explain.configure(GT513='off')",
    )


def root_of(module: Any, parents: dict[int, list[tuple[str, Any]]]) -> Any:
    for _ in range(64):
        above = parents.get(id(module))
        if not above:
            return module
        module = above[0][1]
    return module


def released_problem(parameter: Any, registry: Registry, made: Location, released: Location | None) -> Problem:
    """A parameter was frozen when the optimiser was made, and requires a gradient since."""
    name = registry.path_of(parameter) or "a parameter"
    spans = [span_of(made).labelled("the optimiser is made here, while it is frozen")]
    if released is not None and released.is_known:
        spans.insert(0, span_of(released).labelled("released here"))
    return problem(
        "GT513",
        f"{name} was frozen when the optimiser was made, which does not have it",
        spans=spans,
        consequence="since it requires a gradient it gets one, and never changes",
        fixes="optimizer.add_param_group({'params': backbone.parameters()}) when it is released; or give the "
        "optimiser all parameters at once: those without a gradient are left alone",
        intent="requires_grad_(False) for what is not to be learnt",
    )


def replaced_problem(copy: Any, asked: Location, made: Location | None) -> Problem:
    """A leaf of an optimiser has been replaced by a new leaf that was made of its numbers."""
    where = copy.copied_from.location if getattr(copy, "copied_from", None) is not None else copy.location
    spans = [span_of(where).labelled("a new leaf is made here, of the numbers of the old one")]
    if made is not None and made.is_known:
        spans.append(span_of(made).labelled("the optimiser has the old one"))
    spans.append(span_of(asked).labelled("gives the new one a gradient"))
    return problem(
        "GT513",
        "the optimiser goes on with a tensor that is not used any more: its name stands for a new one",
        spans=spans,
        consequence="after the first step nothing changes",
        fixes="change the tensor itself: with torch.no_grad(): x.clamp_(0, 1); or make the optimiser anew",
    )


def made_anew_problem(leaf: Any, known: Registered, asked: Location, made: Location | None) -> Problem:
    """A layer is made in each forward pass, so that its parameters are new every time."""
    module = known.module()
    what = "layer" if module is None else type(module).__name__
    spans = [span_of(known.location).labelled("made in every pass"), span_of(asked).labelled("gets a gradient here")]
    if made is not None and made.is_known:
        spans.append(span_of(made).labelled("the optimiser is made here"))
    return problem(
        "GT513",
        f"this {what} is made anew in every forward pass: its parameters are random each time, and no optimiser has "
        "them",
        spans=spans,
        consequence="it is never trained, and what is learnt before it is learnt for another layer each time",
        fixes="make the layer once, in __init__: self.project = nn.Linear(...), and call self.project(x) in forward",
        intent="requires_grad_(False), or torch.no_grad(), for random projections",
    )


def _is_made_to_train(
    entry: Untrained, known: Registered | None, root: Any, registry: Registry, optimisers: Sequence[Any]
) -> bool:
    """Whether a model that what is trained goes through has its first weights still, as one to be trained has.

    Not so a critic, a perceptual loss or another fixed model: it is in eval mode, or its weights were loaded, copied or
    trained before. And an image or another tensor of the user's may be optimised for any model.
    """
    if known is None or root is None or not known.by_user or not entry.is_fresh:
        return False
    if any(not inner.training for inner in torch.nn.Module.modules(root)):
        return False
    trained = [p for state in optimisers for p in state.parameters()]
    return bool(trained) and all(registry.find(p) is not None for p in trained)


def _not_given(
    leaf: Any,
    entry: Untrained,
    registry: Registry,
    parents: dict[int, list[tuple[str, Any]]],
    optimisers: Sequence[Any],
    optimised: set[int],
) -> Problem | None:
    """A parameter of a module none of whose parameters an optimiser has, although it comes before what is trained."""
    if not entry.is_parameter or not entry.is_of_training(optimised):
        return None
    known = registry.find(leaf)
    module = None if known is None else known.module()
    root = root_of(module, parents)
    if entry.follows_trained and not _is_made_to_train(entry, known, root, registry, optimisers):
        return None
    if known is not None and module is not None:
        if not known.by_user or not module.training or root is None:
            return None
        if any(id(p) in optimised for p in torch.nn.Module.parameters(root)):
            if not _are_biases_left_out(root, optimised):
                return None  # a part of a model was chosen
            return _left_out_problem(root, registry.path_of(leaf, parents), entry, optimisers)
    name = registry.path_of(leaf, parents) or "a parameter"
    whole = "" if root is None or known is None else f", nor any other of the {type(root).__name__}"
    spans = _optimiser_span(optimisers)
    made = span_of(known.location if known is not None else entry.made).labelled("made here")
    is_later = all(registry.is_made_after(leaf, state.registered) for state in optimisers)
    spans = [made, *spans] if is_later else [*spans, made]
    return problem(
        "GT513",
        f"no optimiser has {name}{whole}, and the loss is computed from it",
        spans=[*spans, span_of(entry.location).labelled("gets a gradient here")],
        consequence="it gets gradients and never changes",
        fixes="give the optimiser all that is to be learnt: [*encoder.parameters(), *decoder.parameters()]; what is "
        "not is said so by requires_grad_(False)",
        intent="requires_grad_(False) for what is not to be learnt",
    )


def _are_biases_left_out(root: Any, optimised: set[int]) -> bool:
    """Whether optimisers have the weights of the layers of a model, of several at least, and none of their biases.

    A choice of layers takes a layer whole; only the other way round, biases without weights, is a known technique.
    """
    layers = 0
    for module in torch.nn.Module.modules(root):
        weight, bias = (module._parameters.get(name) for name in ("weight", "bias"))
        if bias is None or weight is None or not bias.requires_grad or not weight.requires_grad or weight.ndim < 2:
            continue
        if not type(module).__module__.startswith("torch.nn.") or id(weight) not in optimised:
            continue
        if id(bias) in optimised:
            return False
        layers += 1
    return layers > 1


def _left_out_problem(root: Any, name: str, entry: Untrained, optimisers: Sequence[Any]) -> Problem:
    """The biases of a model are in no group of parameters."""
    return problem(
        "GT513",
        f"the optimiser has the weights of the {type(root).__name__} and none of its biases, such as {name}",
        spans=[*_optimiser_span(optimisers), span_of(entry.location).labelled("gives the biases a gradient")],
        consequence="they get gradients and never change",
        fixes="a second group for them: [{'params': decay}, {'params': no_decay, 'weight_decay': 0.0}]",
        intent="requires_grad_(False) for what is not to be learnt",
    )


__all__ = ["Registered", "Registry", "Untrained", "unregistered"]
