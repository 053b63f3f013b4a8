"""Reference records: values and gradients computed elsewhere in float64, one JSON record per line."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

_FOLDER = Path(__file__).parents[1] / "data"
RECORDS: list[dict[str, Any]] = [
    record
    for name in ("golden_scarce.json", "golden_methods.json", "golden_meta.json")
    for record in json.loads((_FOLDER / name).read_text())
]
EXTREME = next(record for record in RECORDS if record.get("fixture") == "EXTREME")


def records(*methods: str, status: str = "reference") -> list[Any]:
    """The records of these methods, as pytest parameters named by id, method and fixture."""
    return [
        pytest.param(record, id=f"{record['id']}-{record['method']}-{record.get('fixture')}")
        for record in RECORDS
        if record["method"] in methods and record["status"] == status
    ]


def tensors(
    record: dict[str, Any], dtype: torch.dtype = torch.float64
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Logits (requiring a gradient), excluded, priors (uniform where the record has none)."""
    logits = torch.tensor(record["logits"], dtype=dtype, requires_grad=True)
    excluded = torch.tensor(record["complementary_label_matrix"], dtype=dtype)
    priors = torch.tensor(record.get("priors", [1.0] * logits.shape[1]), dtype=dtype)
    return logits, excluded, priors / priors.sum()
