"""SCARCE-Meta: any positive-unlabelled learner as a method, one per class on one network."""

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
