"""Reference records: values and gradients computed elsewhere in float64, one JSON record per line."""

import json
from pathlib import Path
from typing import Any

import torch

_FILE = Path(__file__).parent / "data" / "golden_scarce.json"
RECORDS: list[dict[str, Any]] = json.loads(_FILE.read_text())

EXTREME = next(record for record in RECORDS if record.get("fixture") == "EXTREME")


def records(*methods: str) -> list[Any]:
    """The records of these methods, as pytest parameters named by id, fixture and parameters."""
    import pytest

    return [
        pytest.param(r, id=f"{r['id']}-{r['method']}-{r.get('fixture')}-{r['params']}")
        for r in RECORDS
        if r["method"] in methods
    ]


def tensors(
    record: dict[str, Any], dtype: torch.dtype = torch.float64
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Logits (requiring a gradient), excluded, priors."""
    logits = torch.tensor(record["logits"], dtype=dtype, requires_grad=True)
    excluded = torch.tensor(record["complementary_label_matrix"], dtype=dtype)
    priors = torch.tensor(record["priors"], dtype=dtype)
    return logits, excluded, priors / priors.sum()
