"""A Datastore for tests and for trying out: ``python tests/emulators/datastore/server.py``.

It speaks gRPC on the loopback, as the real one does, to Google's own clients, and holds everything
in memory. What it is told with ``DATASTORE_EMULATOR_HOST`` it prints as its first line.
"""

import argparse
import gc
import json
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import grpc
from google.protobuf.message import DecodeError

# Run as a program, this folder is the first place where Python looks.
sys.path[:1] = sys.path[:1] if __package__ else [str(Path(__file__).resolve().parents[3])]

from tests.emulators.datastore.faults import Fault  # noqa: E402
from tests.emulators.datastore.protocol import SERVICE, RefusedError  # noqa: E402
from tests.emulators.datastore.queries import read_indexes  # noqa: E402
from tests.emulators.datastore.service import BATCH_BYTES, Admission, Call, Service  # noqa: E402
from tests.emulators.datastore.store import Store  # noqa: E402

#: What tests speak to: one call, JSON in and out.
CONTROL = "benchyard.testing.Control"
THREADS = 16
#: Longer than what is accepted: the limit is told as the real service tells it, not as gRPC does.
_RECEIVED_BYTES = 64 * 1024 * 1024


def control(service: Service) -> Call:
    """Return the call that orders faults, tells counts and clears."""

    def answered(raw: bytes, _peer: str) -> bytes:
        order = cast("dict[str, Any]", json.loads(raw))
        match order.pop("do"):
            case "fault":
                service.faults.order(Fault(**order))
            case "admit":
                service.admission = Admission(**order)
            case "no-faults":
                service.faults.clear(counts=False)
            case "clear":
                service.clear()
            case _:
                pass
        return json.dumps(service.faults.counts()).encode()

    return answered


def ordered(address: str, order: dict[str, Any]) -> dict[str, int]:
    """Send an order to a server, from another process, and return its counts."""
    with cast("Any", grpc).insecure_channel(address) as channel:
        call = channel.unary_unary(f"/{CONTROL}/Do")
        return json.loads(call(json.dumps(order).encode(), timeout=60, wait_for_ready=True))


def started(service: Service, port: int) -> tuple[grpc.Server, int]:
    """Start to serve on the loopback and return the server and its port.

    Args:
        port: 0 for any that is free.
    """
    options = [("grpc.max_receive_message_length", _RECEIVED_BYTES), ("grpc.so_reuseport", 0)]
    server = grpc.server(ThreadPoolExecutor(THREADS), options=options)
    handlers = {name: _handler(call) for name, call in service.calls().items()}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    controls = {"Do": _handler(control(service))}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(CONTROL, controls),))
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, bound


def _handler(call: Call) -> Any:
    def answered(raw: bytes, context: grpc.ServicerContext) -> bytes:
        try:
            return call(raw, context.peer())
        except DecodeError:
            context.set_code(grpc.StatusCode.INVALID_ARGUMENT)
            context.set_details("Error parsing protocol message")
            return b""
        except RefusedError as error:
            context.set_code(error.status)
            context.set_details(error.text)
            return b""

    return cast("Any", grpc).unary_unary_rpc_method_handler(answered)


def main() -> None:
    """Serve until stopped."""
    given = _parser().parse_args()
    # Hundreds of thousands of objects that live on need no looking through; few others are made.
    gc.set_threshold(100_000, 50, 1_000)
    stops = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)  # before gRPC starts threads, which inherit it
    server, port = started(_service(given), given.port)
    print(f"DATASTORE_EMULATOR_HOST=127.0.0.1:{port}", flush=True)  # noqa: T201
    if given.while_stdin:
        threading.Thread(target=_end_with_input, daemon=True).start()
    signal.sigwait(stops)
    server.stop(None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    add = parser.add_argument
    add("--port", type=int, default=0, help="0, the default, for any that is free.")
    add("--index", help="An index.yaml; 'any' to answer every query.")
    add("--data", type=Path, help="A file that keeps the entities.")
    add("--batch-bytes", type=int, default=BATCH_BYTES, help="After which an answer is cut.")
    add("--legacy", action="store_true", help="Refuse more than 500 mutations a commit.")
    add("--while-stdin", action="store_true", help="End with standard input.")
    return parser


def _service(given: argparse.Namespace) -> Service:
    indexes = read_indexes(Path(given.index)) if given.index not in (None, "any") else []
    return Service(
        None if given.index == "any" else indexes,
        Store(given.data),
        legacy=given.legacy,
        batch_bytes=given.batch_bytes,
    )


def _end_with_input() -> None:
    """Stop when whoever started this has gone, however it went."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
