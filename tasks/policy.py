"""What all measuring tasks have in common."""

from typing import TypedDict

from prefect.cache_policies import NO_CACHE, CachePolicy


class _Options(TypedDict):
    cache_policy: CachePolicy
    persist_result: bool


#: A measurement is never answered from a cache, and a live session is never stored.
UNCACHED = _Options(cache_policy=NO_CACHE, persist_result=False)
