"""Scaling of columns whose values are far from zero."""

import torch

from scarce.models import ScaleColumns


def test_scale_columns_keeps_precision_at_large_offset():
    small = torch.tensor([[0.0], [1.0], [2.5]], dtype=torch.float64)
    near, far = (
        ScaleColumns(torch.tensor([offset + 1.0], dtype=torch.float64), torch.tensor([0.7]))
        for offset in (0.0, 1.7e9)
    )
    assert torch.allclose(near(small), far(small + 1.7e9), atol=1e-6)
