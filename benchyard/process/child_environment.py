"""The environment of what is measured: the user's own, the same however the lab was started.

A program must not see how it is measured: through Prefect, on a worker of a lab, or directly. Nor
is it told what only the lab must know, such as the password of its database.
"""

import os
from collections.abc import Mapping
from pathlib import Path

#: The lab's and Prefect's own variables begin with these; Prefect reads them in either case.
_OURS = ("BENCHYARD_", "PREFECT_")
#: Whoever starts a lab through Prefect has it set, and a program that reports home while it is
#: measured measures something else: so it is set for all.
_ALWAYS = {"DO_NOT_TRACK": "1"}
#: A checkout that is not installed gets onto the path of a lab's processes: ``benchyard.lab.part``.
_ROOT = str(Path(__file__).resolve().parents[2])

#: Variables that change how a program works and hold no secrets; others are recorded by name alone.
_TOLD = frozenset(
    {
        *("PATH", "HOME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"),
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "DO_NOT_TRACK"),
        *("PYTHONPATH", "PYTHONHASHSEED", "VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME"),
        *("GOMAXPROCS", "GOGC", "GOMEMLIMIT", "CUDA_VISIBLE_DEVICES"),
    }
)
_TOLD_BEGIN = ("LC_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "NUMEXPR_", "MALLOC_")


def child_environment(inherited: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that a child of the lab gets, without its labels and its own.

    Args:
        inherited: The lab's; by default this process's.
    """
    given = os.environ if inherited is None else inherited
    passed = {name: value for name, value in given.items() if not name.upper().startswith(_OURS)}
    if "PYTHONPATH" in passed:
        rest = [one for one in passed.pop("PYTHONPATH").split(os.pathsep) if one != _ROOT]
        passed |= {"PYTHONPATH": os.pathsep.join(rest)} if any(rest) else {}
    return passed | _ALWAYS


def told(inherited: Mapping[str, str] | None = None) -> dict[str, str | None]:
    """Return what a record says of them: every name, and the values that cannot be secrets.

    Args:
        inherited: As above.
    """
    passed = child_environment(inherited)
    return {
        _readable(name): _readable(passed[name]) if _is_told(name) else None
        for name in sorted(passed)
    }


def _is_told(name: str) -> bool:
    return name in _TOLD or name.startswith(_TOLD_BEGIN)


def _readable(text: str) -> str:
    return os.fsencode(text).decode(errors="replace")
