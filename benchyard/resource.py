"""What a resource class of your own imports: the contract, its errors, child processes.

The rooms behind these names may move; the names stay here.
"""

from benchyard.case.resource import (
    CommandResult,
    FileRole,
    InputFile,
    InputFolder,
    NoSettings,
    OutputFile,
    OutputFolder,
    Resource,
    ScratchFolder,
    Workspace,
    command,
    current_step,
)
from benchyard.core.errors import (
    CommandFailedError,
    CommandTimedOutError,
    NotReadyError,
    ProgramFailedError,
    ResourceError,
    SettingsError,
)
from benchyard.process.cgroups import cgroup_of
from benchyard.process.children import Child, spawn, tail
from benchyard.process.usage import Ended, Owned

__all__ = [
    "Child",
    "CommandFailedError",
    "CommandResult",
    "CommandTimedOutError",
    "Ended",
    "FileRole",
    "InputFile",
    "InputFolder",
    "NoSettings",
    "NotReadyError",
    "OutputFile",
    "OutputFolder",
    "Owned",
    "ProgramFailedError",
    "Resource",
    "ResourceError",
    "ScratchFolder",
    "SettingsError",
    "Workspace",
    "cgroup_of",
    "command",
    "current_step",
    "spawn",
    "tail",
]
