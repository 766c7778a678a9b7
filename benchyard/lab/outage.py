"""After an outage of the server: those who could not reach it get time to say that they live.

Prefect's server looks for missing heartbeats as soon as it is up again, before anybody could send
one. It would take every flow run for dead that lived through an outage of a minute.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from prefect.server.database import provide_database_interface
from sqlalchemy.exc import DBAPIError

from benchyard.lab.automations import NAME, WITHIN_SECONDS


async def give_time() -> int:
    """Let each wait for a heartbeat begin anew now; return how many there are."""
    db = provide_database_interface()
    buckets = db.AutomationBucket
    ours = sa.select(db.Automation.id).where(db.Automation.name == NAME)
    latest = datetime.now(UTC) + timedelta(seconds=WITHIN_SECONDS)
    wait = sa.update(buckets).where(buckets.automation_id.in_(ours), buckets.end < latest)
    async with db.session_context(begin_transaction=True) as session:
        found = await session.execute(wait.values(end=latest))
    return int(getattr(found, "rowcount", 0))


async def _give_time_and_close() -> None:
    try:
        await give_time()
    finally:
        await (await provide_database_interface().engine()).dispose()


def after_outage() -> None:
    """Give time before the server starts; nobody waits in a database that is not there yet."""
    try:
        asyncio.run(_give_time_and_close())
    except (DBAPIError, OSError):
        return
