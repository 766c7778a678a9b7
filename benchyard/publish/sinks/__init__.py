"""The sinks by name. A sink's module, and with it its library, is imported when it is opened."""

from benchyard.core.errors import InputError
from benchyard.publish.sinks.contract import Reader, Sink

#: All sinks by name; ``local:FILE`` names another file of the local store, and
#: ``azure-tables:shipyard`` writes Batch Shipyard's own rows.
NAMES = ("local", "datastore", "azure-tables")


def open_sink(wanted: str) -> Sink:
    """Return the sink of a name, such as ``datastore`` or ``local:FILE``; nothing is connected.

    Raises:
        InputError: If there is no such sink.
    """
    name, _, detail = wanted.partition(":")
    match name:
        case "local":
            from benchyard.publish.sinks.local.sink import LocalSink  # noqa: PLC0415
            from benchyard.publish.sinks.local.store import file_of  # noqa: PLC0415

            return LocalSink(file_of(detail))
        case "datastore":
            from benchyard.publish.sinks.datastore.sink import DatastoreSink  # noqa: PLC0415

            return DatastoreSink()
        case "azure-tables":
            from benchyard.publish.sinks.azure.sink import AzureTablesSink  # noqa: PLC0415

            return AzureTablesSink(form=detail)
        case _:
            raise _unknown(wanted)


def open_reader(wanted: str) -> Reader:
    """Return a reader of what was published to a sink; nothing is connected.

    Raises:
        InputError: If there is no such sink, or it holds no timings.
    """
    name, _, detail = wanted.partition(":")
    match name:
        case "local":
            from benchyard.publish.sinks.local.reader import LocalReader  # noqa: PLC0415
            from benchyard.publish.sinks.local.store import file_of  # noqa: PLC0415

            return LocalReader(file_of(detail))
        case "datastore":
            from benchyard.publish.sinks.datastore.reader import DatastoreReader  # noqa: PLC0415

            return DatastoreReader()
        case "azure-tables":
            from benchyard.publish.sinks.azure.credentials import access  # noqa: PLC0415
            from benchyard.publish.sinks.azure.reader import AzureTablesReader  # noqa: PLC0415

            return AzureTablesReader(access())
        case _:
            raise _unknown(wanted)


def _unknown(wanted: str) -> InputError:
    return InputError(f"there is no sink '{wanted}'; there are {', '.join(NAMES)}")
