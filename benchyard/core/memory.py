"""How much memory plain data takes."""

import gc
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType)


def memory_of(value: Any) -> int:
    """Return the bytes of a value and of all that it refers to, each counted once.

    Classes, modules and functions do not count. It takes about as long as a copy would.
    """
    seen: set[int] = set()
    waiting = [value]
    total = 0
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, _SHARED):
            continue
        seen.add(id(value))
        total += sys.getsizeof(value)
        waiting.extend(gc.get_referents(value))
    return total
