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
    level = [value]
    total = 0
    while level:
        new = {id(one): one for one in level if id(one) not in seen}
        seen.update(new)
        counted = [one for one in new.values() if not isinstance(one, _SHARED)]
        total += sum(map(sys.getsizeof, counted))
        level = gc.get_referents(*counted)
    return total
