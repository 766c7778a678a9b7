"""Times a function, in the interpreter that a case names: any CPython or PyPy from 3.8 on.

It takes two arguments, both names of files: the request, a JSON object as
``resources.pythonfunction`` writes it, and the answer. The exit code is 1 if the function raised,
and 2 if there is none. Nothing but the standard library is imported.
Source of the way of timing: pyperf, "Runner".
"""

from __future__ import annotations

import gc
import importlib
import itertools
import json
import platform
import sys
import time
import traceback
from functools import partial
from pathlib import Path
from typing import Any, Callable  # noqa: UP035 - of Python 3.8

Call = Callable[[], Any]

#: More calls are not timed in one go: a function that takes less than this hides in the loop.
MOST_LOOPS = 2**32


def main() -> int:
    """Answer the request; return the exit code."""
    request_file, answer_file = sys.argv[1:]
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    sys.path[:1] = request["folders"]  # this file's own folder is nobody's business
    try:
        call = prepared(request)
        answer = {"python": told(), "times": timed(call, request), "folders": sys.path}
        files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
        answer["modules"] = [file for file in files if isinstance(file, str)]
        if request["result"]:
            write(request["result"], call())
        code = 0
    except RefusalError as refusal:
        answer, code = {"error": str(refusal)}, 2
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        traceback.print_exc()
        what = f"{type(error).__name__}: {error}"
        answer, code = {"error": "{} raised {}".format(request["function"], what)}, 1
    write(answer_file, answer)
    return code


class RefusalError(Exception):
    """There is nothing that could be called."""


def write(path: str, content: object) -> None:
    """Write a file of JSON."""
    try:
        text = json.dumps(content)
    except (TypeError, ValueError) as error:
        raise RefusalError(f"the function's result is no JSON: {error}") from error
    Path(path).write_text(text + "\n", encoding="utf-8")


def told() -> dict[str, Any]:
    """Tell which Python this is."""
    return {
        "implementation": platform.python_implementation(),
        "version": platform.python_version(),
    }


def found(name: str) -> Callable[..., Any]:
    """Return what ``module:function`` names."""
    module, _, attribute = name.partition(":")
    try:
        place: Any = importlib.import_module(module)
    except ImportError as error:
        traceback.print_exc()
        raise RefusalError(f"cannot import '{module}': {error}") from error
    for part in attribute.split("."):
        try:
            place = getattr(place, part)
        except AttributeError as error:
            raise RefusalError(f"'{module}' has no '{attribute}'") from error
    if not callable(place):
        raise RefusalError(f"'{name}' cannot be called")
    return place


def prepared(request: dict[str, Any]) -> Call:
    """Return what is timed, without arguments; the set-up is over then."""
    function = found(request["function"])
    arguments, keywords = request["arguments"], request["keywords"]
    if request["setup"]:
        made = found(request["setup"])(*arguments, **keywords)
        if made is not None:
            return partial(function, made)
    return partial(function, *arguments, **keywords) if arguments or keywords else function


def timed(call: Call, request: dict[str, Any]) -> dict[str, Any]:
    """Return loops, and seconds a call: of the warm-ups, and of the measurements."""
    if not request["garbage_collector"]:
        gc.disable()
    loops = request["loops"] or calibrated(call, request["min_seconds"])
    warmups = [measured(call, loops) / loops for _ in range(request["warmups"])]
    values = [measured(call, loops) / loops for _ in range(request["values"])]
    collects = gc.isenabled()
    return {"loops": loops, "warmups": warmups, "values": values, "garbage_collector": collects}


def calibrated(call: Call, min_seconds: float) -> int:
    """Double the calls until they take as long as one measurement has to; return their number."""
    loops = 1
    while measured(call, loops) < min_seconds and loops < MOST_LOOPS:
        loops *= 2
    return loops


def measured(call: Call, loops: int) -> float:
    """Return the seconds that so many calls take."""
    gc.collect()
    clock = time.perf_counter
    times = itertools.repeat(None, loops)
    began = clock()
    for _ in times:
        call()
    return clock() - began


if __name__ == "__main__":
    sys.exit(main())
