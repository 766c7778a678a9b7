"""The way to know that a container takes commands which the engine alone can tell."""

from dataclasses import dataclass
from typing import Any, cast

from benchyard.core.errors import NotReadyError
from resources._containers.container import LiveContainer
from resources._readiness import Asking, Awaited


@dataclass(frozen=True, slots=True)
class Healthy(Asking):
    """The engine finds it healthy."""

    def is_ready(self, awaited: Awaited) -> bool:
        """Ask the engine."""
        container = cast("LiveContainer", awaited)
        state: Any = container.inspected()["State"]
        health = state.get("Health")
        if health is None:
            raise NotReadyError(
                f"the image '{container.spec.image}' has no health check; give 'health_check', or "
                "another way under 'ready'"
            )
        if health["Status"] == "unhealthy":
            tries: list[Any] = health.get("Log") or [{}]
            said = str(tries[-1].get("Output", "")).strip()
            raise NotReadyError(f"{container.title} is unhealthy: {said}")
        return health["Status"] == "healthy"

    def __str__(self) -> str:
        return "the engine finds it healthy"
