"""`tf.config`: there is one CPU and nothing to choose."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.function import functions_run_eagerly, run_functions_eagerly

PhysicalDevice = namedtuple("PhysicalDevice", ["name", "device_type"])


def list_physical_devices(device_type: str | None = None) -> list[Any]:
    """The CPU, if it is asked for."""
    return [PhysicalDevice("/physical_device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


list_logical_devices = get_visible_devices = list_physical_devices

__all__ = ["PhysicalDevice", "functions_run_eagerly", "get_visible_devices", "list_logical_devices"]
__all__ += ["list_physical_devices", "run_functions_eagerly"]
__getattr__ = missing(__name__)
