"""Other detectors of changes of level, where their packages are installed: never ours to depend on.

Each finds the places at which new levels begin. Otava has its own defaults (50 points, p 0.001);
the penalty of PELT (squared error) is 3 log(n) variances, taken from neighbours' differences.
"""

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

OTAVA = "Otava"
Finder = Callable[[NDArray[np.float64]], list[int]]


def installed_finders() -> tuple[dict[str, Finder], list[str]]:
    """Return the detectors by their name, and the names of those that are not installed."""
    known: dict[str, tuple[str, Callable[[Any], Finder]]] = {
        OTAVA: ("otava.analysis", _otava),
        "asv": ("asv.step_detect", _asv),
        "PELT": ("ruptures", _pelt),
    }
    found: dict[str, Finder] = {}
    for name, (module, finder) in known.items():
        try:
            found[name] = finder(import_module(module))
        except ImportError:
            continue
    return found, [name for name in known if name not in found]


def _otava(module: Any) -> Finder:
    def find(values: NDArray[np.float64]) -> list[int]:
        return [int(one.index) for one in module.compute_change_points(np.exp(values).tolist())[0]]

    return find


def _asv(module: Any) -> Finder:
    def find(values: NDArray[np.float64]) -> list[int]:
        return [int(step[0]) for step in module.detect_steps(np.exp(values).tolist())[1:]]

    return find


def _pelt(module: Any) -> Finder:
    def find(values: NDArray[np.float64]) -> list[int]:
        deviation = float(np.median(np.abs(np.diff(values)))) * 1.4826 / math.sqrt(2)
        fitted = module.Pelt(model="l2", min_size=3, jump=1).fit(values)
        return fitted.predict(pen=3 * math.log(len(values)) * deviation**2)[:-1]

    return find
