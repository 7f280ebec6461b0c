"""From LLVM IR to functions in memory: the target machine, the optimisation pipeline, linking and a bounded cache.

A `Machine` is a CPU and its instruction sets: the host's by default, or fewer of them, so that the code for older
machines can be tested on new ones. A `Library` is linked code; its addresses are good for as long as it is alive, so
an object that keeps an address has to keep the library.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, TypeVar

import llvmlite.binding as llvm

from gradtape.config import config
from gradtape.forking import cached_property, fork_safe

CACHE_SIZE = 256  # libraries in the cache; each takes some 60 KB
SHARED = 32  # libraries per linker: a linker takes 0.1 MB and 1 ms, and each library leaks 10 KB in it
LONG = 270_000  # characters of a module, from which on its loops are rotated before they are inlined into one function


class Library:
    """Native code in memory and the addresses of its functions. `deepcopy` returns the same object."""

    def __init__(self, tracker: Any, names: Sequence[str]) -> None:
        self._tracker = tracker
        self._addresses = {name: int(tracker[name]) for name in names}

    def __deepcopy__(self, memo: dict[int, Any]) -> Library:
        return self

    def address(self, name: str) -> int:
        """The address of a function."""
        return self._addresses[name]

    def function(self, name: str, result: Any, *arguments: Any, keeps_gil: bool = False) -> Any:
        """A ctypes function that keeps the library alive. It releases the GIL unless `keeps_gil`."""
        kind = ctypes.PYFUNCTYPE if keeps_gil else ctypes.CFUNCTYPE
        function: Any = kind(result, *arguments)(self._addresses[name])
        function.library = self
        return function


class Machine:
    """A CPU and its instruction sets, and the code compiled for it.

    The host by default. `features` switches some of its instruction sets off ("-fma,-avx2") or on; with a `cpu`, they
    are added to those of that CPU ("x86-64": the oldest there is).

    >>> from gradtape.jit.native.runtime.llvm import Machine
    >>> Machine(features="-fma,-fma4,-avx512f").fused
    False
    """

    def __init__(self, cpu: str | None = None, features: str | None = None) -> None:
        _initialise()
        found = _host_features() if cpu is None else {}
        for switch in (features or "").split(","):
            if switch:
                found[switch[1:]] = switch[0] == "+"
        # the name of a CPU implies its instruction sets, so it is left out if some are switched off
        self.cpu = cpu if cpu is not None else "" if features else llvm.get_host_cpu_name()
        self.features = ",".join(("+" if on else "-") + name for name, on in sorted(found.items()))
        self.target = self._target(2)
        self._passes, self._passes_of_long = _passes(), _passes(rotate_first=True)
        self.fused = bool(found.get("fma")) or llvm.get_process_triple().startswith(("aarch64", "arm64"))
        self.always_hasty = False
        """Whether all code is compiled as `compile(hasty=True)` does: for tests of many programs that run once."""
        self._start_linker()
        self._lock = fork_safe(threading.RLock())
        self._cache: OrderedDict[str, Library] = OrderedDict()
        self._numbers = itertools.count()

    @property
    def architecture(self) -> str:
        """The name of the architecture, as in x86_64."""
        return str(llvm.get_process_triple().partition("-")[0])

    def __deepcopy__(self, memo: dict[int, Any]) -> Machine:
        return self  # a copy would free the memory of LLVM a second time

    def _target(self, level: int) -> Any:
        """A target machine of this optimisation level, from 0 to 3."""
        target = llvm.Target.from_triple(llvm.get_process_triple())
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=level, reloc="pic", codemodel="default"
        )

    @cached_property
    def _hasty(self) -> Any:
        return self._target(0)

    def _start_linker(self) -> None:
        """Create a new linker: LLVM keeps memory of unloaded libraries until the last one of their linker is unloaded.

        A linker also gets slower with each library.
        """
        self._jit = llvm.create_lljit_compiler(self.target, use_jit_link=False, suppress_errors=False)
        self._pass_builder = llvm.create_pass_builder(self.target, llvm.create_pipeline_tuning_options(speed_level=2))

    def optimise(self, text: str) -> Any:
        """The module after the optimisation pipeline. No pass may change floating-point results."""
        module = llvm.parse_assembly(text)
        module.verify()
        (self._passes_of_long if len(text) > LONG else self._passes).run(module, self._pass_builder)
        return module

    def assembly(self, text: str) -> str:
        """The assembly of a module, for reading."""
        with self._lock:
            return str(self.target.emit_assembly(self.optimise(text)))

    def _object_code(self, text: str, hasty: bool) -> bytes:
        """The object code of a module, from the disk cache if it is enabled."""
        target = self._hasty if hasty else self.target

        def make() -> bytes:
            return bytes(target.emit_object(self.optimise(text)))

        if config.cache_dir is None:
            return make()
        from gradtape.jit.native.runtime.disk_cache import object_code  # loaded only if the disk cache is enabled

        return object_code((text, self.cpu, self.features, "hasty" if hasty else ""), make)

    def compile(
        self, text: str, exports: Sequence[str], symbols: dict[str, int] | None = None, hasty: bool = False
    ) -> Library:
        """Compile and link a module; the same text is compiled once while it is in the cache.

        `hasty` takes a fifth of the time to compile, for code without loops that matter.
        """
        key = hashlib.sha256(repr((text, sorted((symbols or {}).items()))).encode()).hexdigest()
        with self._lock:
            found = self._cache.get(key)
            if found is not None:
                self._cache.move_to_end(key)
                return found
            code = self._object_code(text, hasty or self.always_hasty)
            library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
            for name in exports:
                library.export_symbol(name)
            for name, address in (symbols or {}).items():
                library.import_symbol(name, address)
            number = next(self._numbers)
            if number % SHARED == SHARED - 1:
                self._start_linker()
            # the name of a library cannot be used again, even after it is unloaded
            tracker = library.link(self._jit, f"gradtape_{number}")
            made = Library(tracker, exports)
            self._cache[key] = made
            while len(self._cache) > CACHE_SIZE:
                self._cache.popitem(last=False)
            return made


def _passes(rotate_first: bool = False) -> Any:
    """The passes, in order; created once for a machine, since llvmlite never frees the memory of a pass manager.

    The emitted code needs few: it has no common subexpressions, and loops are vectorised already. The default pipeline
    of LLVM takes longer. Instructions are combined once, after the loops have got their final form. Rotating takes time
    that grows with the square of the number of loops in a function: with `rotate_first` it is done in the functions of
    the loop nests, before they are inlined into one.
    """
    passes = llvm.create_new_module_pass_manager()
    if rotate_first:
        passes.add_loop_rotate_pass()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    if not rotate_first:
        passes.add_loop_rotate_pass()
    passes.add_instruction_combine_pass()
    return passes


Result = TypeVar("Result")


def once(function: Callable[..., Result]) -> Callable[..., Result]:
    """A thread-safe `functools.cache`: the function is called once for each argument.

    With `functools.cache`, concurrent threads all compute and all results but one are dropped, together with code whose
    addresses are in use already.

    >>> from gradtape.jit.native.runtime.llvm import once
    >>> once(object)() is once(object)()
    False
    >>> made = once(object)
    >>> made() is made()
    True
    """
    lock, known = fork_safe(threading.RLock()), cache(function)

    @wraps(function)
    def call(*args: Any) -> Result:
        with lock:
            return known(*args)

    return call


@once
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@once
def _machine(features: str) -> Machine:
    return Machine(features=features or None)


def host() -> Machine:
    """The machine this process runs on, without the features that `gt.config.native_features` switches off.

    >>> from gradtape.jit.native.runtime.llvm import host
    >>> host() is host()
    True
    """
    return _machine(config.native_features)


def _host_features() -> dict[str, bool]:
    try:
        return dict(llvm.get_host_cpu_features())
    except RuntimeError:  # unknown on this platform: the baseline of its architecture
        return {}
