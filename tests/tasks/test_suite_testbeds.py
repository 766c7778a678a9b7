"""What Prefect knows of the testbeds of a pool."""

import uuid

import pytest
from prefect.client.schemas.actions import VariableCreate, WorkPoolCreate

from tasks import prefect_internals, suite_testbeds
from tasks.suite_testbeds import PREFIX

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server")]


def test_testbeds_beyond_the_first_page_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefect_internals, "PAGE", 2)
    pool = f"pages-{uuid.uuid4().hex[:8]}"
    names = [f"{pool}-{number}" for number in range(5)]
    with prefect_internals.our_client() as client:
        client.create_work_pool(WorkPoolCreate(name=pool, type="process"))
        variables = [PREFIX + name.replace("-", "_") for name in names]
        for variable, name in zip(variables, names, strict=True):
            told = {"name": name, "queue": name, "host": "", "cpus": 1, "memory": 1}
            client.create_work_queue(name, work_pool_name=pool)
            client.create_variable(VariableCreate(name=variable, value=told))
        try:
            _, dead = suite_testbeds.testbeds_of(client, pool)
        finally:
            for variable in variables:
                client.delete_variable_by_name(variable)
            client.delete_work_pool(pool)
    assert sorted(place.name for place in dead) == names
