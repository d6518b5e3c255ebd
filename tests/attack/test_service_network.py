"""The service and its network: answers that wait, workers that die, connections that say nothing."""

from __future__ import annotations

import asyncio
import os
import socket

import httpx
import pytest

from reap.models.files import save_model
from reap.service.server import listen
from tests.service.serving import start, stop

#: Python runs this before anything else: the first worker of a service dies while it is still starting.
DEADLY = """
import os, signal, sys, threading, time
if any("spawn_main" in word for word in sys.orig_argv):
    try:
        os.remove({death!r})
    except FileNotFoundError:
        pass
    else:
        def die():
            time.sleep(1.2)
            os.kill(os.getpid(), signal.SIGKILL)
        threading.Thread(target=die, daemon=True).start()
"""


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


def test_a_worker_that_dies_while_it_starts_is_replaced_and_keeps_nobody_waiting(german_model, tmp_path):
    """The supervisor had sent it a message and waited two minutes for the reply of a dead process."""
    save_model(german_model, tmp_path / "model.skops")
    site, death = tmp_path / "site", tmp_path / "death"
    site.mkdir()
    death.touch()
    (site / "sitecustomize.py").write_text(DEADLY.format(death=str(death)))
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    process, url = start(tmp_path, workers=2, PYTHONPATH=path)  # returns once two workers are up
    try:
        assert not death.exists()
        assert "a worker is replaced" in next(tmp_path.glob("log-*")).read_text()
        assert httpx.get(f"{url}/readyz").status_code == 200
    finally:
        stop(process)
