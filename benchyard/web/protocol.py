"""HTTP of the explorer's server: a head that does not come whole in time ends the connection."""

import asyncio
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol


class HeadInTime(H11Protocol):
    """Closes a connection that sends no whole head within ``timeout_keep_alive`` seconds.

    Uvicorn begins to count after an answer, and stops at the first byte of the next head.
    """

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first head."""
        super().connection_made(cast("asyncio.Transport", transport))
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def data_received(self, data: bytes) -> None:
        """Take what came; only a whole head stops the waiting."""
        self.conn.receive_data(data)
        self.handle_events()
