"""The service and its network: answers that wait, workers that die, connections that say nothing."""

from __future__ import annotations

import asyncio
import socket

import pytest

from reap.service.server import listen


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_an_answer_leaves_at_once_instead_of_waiting_for_the_next_packet(host):
    """Nagle's algorithm and delayed acknowledgements together held every kept-alive answer back for 40 ms."""

    async def visit(listener):
        seen = asyncio.get_running_loop().create_future()

        async def accepted(_, writer):
            connection = writer.get_extra_info("socket")
            seen.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(accepted, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
            found = await seen
            writer.close()
            await writer.wait_closed()
            return found

    with listen(host, 0) as listener:
        assert asyncio.run(visit(listener)) != 0
