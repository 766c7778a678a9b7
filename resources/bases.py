"""Base classes for resource classes of your own that drive containers; the names stay here."""

from resources._containers.base import ProgramContainer, ServerContainer
from resources._containers.settings import ContainerSettings, heap_arguments
from resources._http_store import HttpStore
from resources._mapping import Database, Mapping, MappingEngine
from resources._mapping.folder import ConfiguredEngine
from resources._readiness import Readiness

__all__ = ["ConfiguredEngine", "ContainerSettings", "Database", "HttpStore", "Mapping"]
__all__ += ["MappingEngine", "ProgramContainer", "Readiness", "ServerContainer", "heap_arguments"]
