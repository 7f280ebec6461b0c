"""The interpreter: arguments, names of the main module, paths, handlers, hooks, streams; and how the script ends."""

import atexit
import builtins
import contextlib
import inspect
import io
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback

import numpy as np

import __main__
import gradtape as gt


class Kept:
    """Something to pickle."""


def last():
    print("last", sys.argv[1:], __name__, sys.modules["__main__"] is __main__, __main__.last is last)
    print(sys.path[0] == os.path.dirname(os.path.realpath(__file__)), pickle.loads(pickle.dumps(Kept)) is Kept)
    print(getattr(sys, "last_type", None), sys.exc_info(), os.getcwd() == here)


here = os.getcwd()
atexit.register(last)
print(sys.argv[1:], os.path.basename(sys.argv[0]), __name__, __file__, __package__, __spec__, __doc__)
print(sorted(name for name in vars(__main__) if name.startswith("__")), type(__loader__), __builtins__ is builtins)
print(getattr(__loader__, "name", None), getattr(__loader__, "path", None), __cached__)
print(sys.path, vars(__main__) is globals(), sys.modules["__main__"] is __main__)
print(sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.gettrace(), sys.getprofile())
print(sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__, sys.stdin is sys.__stdin__)
print(sys.unraisablehook is sys.__unraisablehook__, threading.current_thread() is threading.main_thread())
print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGPIPE))
print(logging.root.handlers, logging.root.level, sys.getrecursionlimit(), sys.dont_write_bytecode)
print({name: value for name, value in os.environ.items() if "GRADTAPE" in name})
print(inspect.getsource(Kept), inspect.getfile(Kept), traceback.format_list(traceback.extract_stack()[-1:]))
print(multiprocessing.current_process().name, sorted(set(globals()) - set(dir(builtins))))
events = []


def tracer(frame, event, argument):
    if frame.f_code.co_name == "traced":
        events.append((event, frame.f_lineno))
    return tracer


x = gt.Variable(np.linspace(-30.0, 30.0, 4))


def traced():
    with gt.GradientTape() as tape:
        y = np.sum(np.tanh(x))
    return tape.gradient(y, x)


sys.settrace(tracer)
traced()
print(sys.gettrace() is tracer)
sys.settrace(None)
print(events)
with np.errstate(all="raise"):
    print(np.geterr(), traced().numpy().tolist())
    try:
        np.log(np.zeros(1))
    except FloatingPointError as error:
        print(error)
print(np.geterr(), np.seterr(divide="ignore"), np.geterr())
traced()
print(np.geterr())
with contextlib.redirect_stdout(io.StringIO()) as captured:
    print("captured", traced().numpy().tolist())
print(captured.getvalue())
buffered = io.StringIO()
sys.stdout, kept = buffered, sys.stdout
traced()
print(gt.Variable(0.5))
sys.stdout = kept
print(buffered.getvalue())


def hook(kind, error, trace):
    print("hook", kind.__name__, str(error).splitlines()[0], [frame.name for frame in traceback.extract_tb(trace)])


sys.excepthook = hook
sys.stdout.write("no newline at the end, and an error")
x + np.ones(3)
