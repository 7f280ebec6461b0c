"""Where PyTorch calls the watcher: a function mode, the entry of the autograd engine, `Function.apply`, the steps of
optimisers, the registration of parameters; and what keeps out of compiled code.

Each hook is undone by `remove`. While `pause` is in force, nothing is recorded.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode, _len_torch_function_stack, _pop_mode, _push_mode

from gradtape.watching.imports import calling_after_import


class FunctionMode(TorchFunctionMode):  # type: ignore[misc]
    """Hands each call of a function of PyTorch to the watcher."""

    def __init__(self, handle: Callable[..., Any]) -> None:
        super().__init__()
        self._handle = handle

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._handle(func, args, kwargs or {})


class Hooks:
    """The hooks into PyTorch. `listener` is the watcher; it has a method for each event."""

    def __init__(self, listener: Any) -> None:
        self._listener = listener
        self._mode = FunctionMode(listener.call)
        self._undo: list[Callable[[], Any]] = []
        self._thread = threading.get_ident()
        self._process = os.getpid()
        self._compiling: Any = None  # the frame, or the context, of the compiled function that is running
        self._imports = ExitStack()
        self.is_recording = False
        self._is_left_over = False  # whether the mode may still be on the stack, although nothing is recorded
        self.pauses = 0

    def is_here(self) -> bool:
        """Whether this is the thread and the process that is watched."""
        return threading.get_ident() == self._thread and os.getpid() == self._process

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Inside, nothing is recorded, and the mode is not on the stack."""
        self.pauses += 1
        was_there = self.is_recording and self.is_here() and self._take_mode_off()
        try:
            yield
        finally:
            self.pauses -= 1
            if was_there:
                _push_mode(self._mode)

    # -- the function mode

    def record(self) -> None:
        """Begin to receive all functions."""
        if not self.is_recording and self.is_here():
            self._take_mode_off()
            _push_mode(self._mode)
            self.is_recording, self._is_left_over = True, False

    def rest(self) -> None:
        """Stop to receive functions, so that the program runs at full speed.

        PyTorch puts a mode back when its handler returns: inside of one, the mode stays until `settle` is called
        elsewhere. `loss.backward()` is inside of one, the step of an optimiser is not.
        """
        self.is_recording = False
        self._is_left_over = True
        self.settle()

    def settle(self) -> None:
        """Take the mode off the stack if nothing is to be recorded any more."""
        if not self.is_recording and self.is_here() and self._take_mode_off():
            self._is_left_over = False

    def _take_mode_off(self) -> bool:
        """Take our mode off the stack, wherever in it it is. Whether it was there."""
        above = []
        found = False
        while _len_torch_function_stack() and not found:
            mode = _pop_mode()
            found = mode is self._mode
            if not found:
                above.append(mode)
        for mode in reversed(above):
            _push_mode(mode)
        return found

    # -- the rest

    def install(self) -> None:
        """Set all hooks but the function mode."""
        listener = self._listener
        self._replace(torch.autograd, "_engine_run_backward", self._around_engine)
        self._replace(torch, "from_numpy", self._around_from_numpy)
        self._replace_apply()
        self._replace_parameter()
        self._imports.enter_context(calling_after_import(["torch._dynamo.eval_frame"], self._keep_out_of_compiled_code))
        before = register_optimizer_step_pre_hook(self._when_here(listener.before_step))
        after = register_optimizer_step_post_hook(self._when_here(listener.after_step))
        registered = register_module_parameter_registration_hook(self._when_here(listener.parameter_registered))
        contained = register_module_module_registration_hook(self._when_here(listener.module_registered))
        self._undo += [before.remove, after.remove, registered.remove, contained.remove]
        made = torch.optim.Optimizer.__init__

        @functools.wraps(made)
        def note_made(optimiser: Any, *args: Any, **kwargs: Any) -> Any:
            result = made(optimiser, *args, **kwargs)
            if self.is_here():
                listener.optimiser_made(optimiser)
            return result

        self._set(torch.optim.Optimizer, "__init__", note_made)
        os.register_at_fork(after_in_child=self._forked)

    def remove(self) -> None:
        """Leave the library as it was."""
        self.rest()
        self._imports.close()
        while self._undo:
            self._undo.pop()()

    def _set(self, owner: Any, name: str, value: Any) -> None:
        before = owner.__dict__[name]
        setattr(owner, name, value)

        def undo() -> None:
            if owner.__dict__.get(name) is value:
                setattr(owner, name, before)

        self._undo.append(undo)

    def _replace(self, module: Any, name: str, around: Callable[..., Any]) -> None:
        original = getattr(module, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return around(original, args, kwargs)

        self._set(module, name, wrapped)

    def _when_here(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> None:
            if self.is_here():
                function(*args, **kwargs)
                if self._is_left_over:  # an optimiser is no function of the mode: here it can be taken off
                    self.settle()

        return call

    def _around_engine(self, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if self.pauses or not self.is_here():
            return original(*args, **kwargs)
        return self._listener.backward(original, args, kwargs)

    def _around_from_numpy(self, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """`torch.from_numpy`, which no mode receives."""
        if self.pauses or not self.is_recording or not self.is_here():
            return original(*args, **kwargs)
        return self._listener.call(original, args, kwargs)

    def _replace_apply(self) -> None:
        """`Function.apply`, which no mode receives."""
        original = torch.autograd.Function.__dict__["apply"]
        listener = self._listener

        @functools.wraps(original.__get__(None, torch.autograd.Function))  # a function of C in newer versions
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            call = functools.partial(original.__get__(None, cls), *args, **kwargs)
            if self.pauses or not self.is_recording or not self.is_here():
                return call()
            return listener.custom_function(cls, call, args, kwargs)

        self._set(torch.autograd.Function, "apply", classmethod(apply))

    def _replace_parameter(self) -> None:
        """`nn.Parameter(data)`, which no mode receives."""
        original = torch.nn.Parameter.__new__
        listener = self._listener

        @functools.wraps(original)
        def new(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
            made = original(cls, data, requires_grad)
            if self.is_recording and not self.pauses and self.is_here():
                listener.parameter_made(made, data)
            return made

        self._set(torch.nn.Parameter, "__new__", staticmethod(new))

    def _keep_out_of_compiled_code(self, module: str = "") -> None:
        """Take the mode off the stack while code that `torch.compile` made is running."""
        eval_frame = sys.modules["torch._dynamo.eval_frame"]
        name = "_maybe_set_eval_frame" if hasattr(eval_frame, "_maybe_set_eval_frame") else "set_eval_frame"

        def set_eval_frame(original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
            if args and self.is_here():
                frame = sys._getframe(2)
                is_method = frame.f_code.co_name in ("__enter__", "__exit__")
                caller = frame.f_locals.get("self") if is_method else frame
                if self._compiling is None and callable(args[0]):
                    if self._take_mode_off() and self.is_recording:
                        self._compiling = caller
                elif self._compiling is not None and caller is self._compiling:
                    self._compiling = None
                    if self.is_recording:
                        _push_mode(self._mode)
            return original(*args, **kwargs)

        self._replace(eval_frame, name, set_eval_frame)

    def _forked(self) -> None:
        """In a child process nothing is watched."""
        self.is_recording = False
        self._take_mode_off()
