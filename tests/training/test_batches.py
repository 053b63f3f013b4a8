"""The order in which an epoch visits rows and blocks of rows."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from scarce.training._batches import epoch_order


@given(st.lists(st.integers(0, 6), min_size=1), st.integers(0, 9))
def test_epoch_order_holds_every_row_once_and_keeps_blocks_together(blocks, seed):
    order = epoch_order(blocks, torch.Generator().manual_seed(seed))
    assert sorted(order.tolist()) == list(range(sum(blocks)))
    which = np.repeat(np.arange(len(blocks)), blocks)[order.numpy()]
    assert np.count_nonzero(np.diff(which)) <= max(0, np.count_nonzero(blocks) - 1)


def test_epoch_order_of_one_block_is_random_permutation():
    one, other = (torch.Generator().manual_seed(3) for _ in range(2))
    assert torch.equal(epoch_order([20], one), torch.randperm(20, generator=other))


def test_epoch_order_draws_all_orders_of_blocks_and_rows():
    generator = torch.Generator().manual_seed(0)
    drawn = {tuple(epoch_order([2, 1, 2], generator).tolist()) for _ in range(500)}
    assert len(drawn) == 6 * 2 * 2
