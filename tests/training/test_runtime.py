"""Seeded blocks in threads and in forked processes."""

import os
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from scarce.training._runtime import seeded


@pytest.fixture
def rapid_switches():
    """Python changes to another thread as often as it can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def draw(seed):
    """Draw in a seeded block with another one inside."""
    with seeded(seed):
        one = torch.rand(3)
        with seeded(seed + 1000):
            torch.rand(3)
        return torch.cat([one, torch.rand(3)]).tolist()


@pytest.mark.usefixtures("rapid_switches")
def test_seeded_blocks_of_threads_do_not_disturb_each_other():
    serial = [draw(seed) for seed in range(300)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(draw, range(300))) == serial
    with seeded(0):
        assert torch.rand(6).tolist() == serial[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_process_forked_while_another_thread_is_seeded_can_seed():
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with seeded(0):
            entered.set()
            leave.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of forks with threads
        child = os.fork()
    if child == 0:
        with seeded(1):
            os._exit(7)
    status = os.waitpid(child, 0)[1]
    leave.set()
    holder.join()
    assert os.waitstatus_to_exitcode(status) == 7
