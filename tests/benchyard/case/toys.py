"""A resource class that the tests of cases declare, with parameters of every kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypedDict

from benchyard.case.registry import Registry
from benchyard.case.resource import (
    InputFile,
    OutputFile,
    OutputFolder,
    Resource,
    ScratchFolder,
    command,
)
from benchyard.core.errors import InputError


class Part(TypedDict):
    file: InputFile
    table: str


@dataclass(frozen=True)
class ToySettings:
    threads: int = 1
    level: int = 0
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise InputError(f"threads is {self.threads}; it must be 1 or more")


class Toy(Resource[ToySettings]):
    """A toy."""

    Settings: ClassVar[type[Any]] = ToySettings

    def version(self) -> str:
        return "1"

    @command
    def play(
        self,
        reads: InputFile | None = None,
        makes: OutputFile | None = None,
        also_makes: OutputFile | None = None,
        fills: OutputFolder | None = None,
        scratch: ScratchFolder | None = None,
        *,
        parts: list[Part] | None = None,
        mode: Literal["a", "b"] = "a",
        count: int = 0,
        ratio: float = 0.0,
        text: str = "",
        fast: bool = False,
        words: list[str] | None = None,
    ) -> None:
        """Play."""

    @command
    def load(
        self,
        csv_file: InputFile,
        table: str,
        output_file: OutputFile | None = None,
        count: int = 0,
        words: list[str] | None = None,
    ) -> None:
        """Load a file."""

    @command
    def load_parts(self, parts: list[Part]) -> None:
        """Load files."""

    @command
    def generate(self, folder: ScratchFolder = "made") -> None:
        """Fill a folder."""

    @command
    def anything(self, **parameters: object) -> None:
        """Take whatever comes."""

    def helper(self) -> None:
        """Not for cases."""

    def _private(self) -> None:
        """Not for cases either."""


#: One class that can be used, and one that cannot.
REGISTRY = Registry({"Toy": Toy}, {"Toy": "here"}, {"Gone": "gone.py: ImportError: no psycopg"})
