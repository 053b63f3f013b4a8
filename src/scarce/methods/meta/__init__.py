"""SCARCE-Meta: any positive-unlabeled (PU) learner becomes a method, with one PU problem per class and one shared network."""

# Importing a method's file registers it; the order is that of the table of methods.
from scarce.methods.meta import (  # isort: skip
    upu,
    nnpu,
    vpu,
    dist_pu,
    cvir,
    pusb,
    elkan_noto,
)

__all__ = ["upu", "nnpu", "vpu", "dist_pu", "cvir", "pusb", "elkan_noto"]
