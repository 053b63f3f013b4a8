"""SCARCE-Meta: any positive-unlabelled learner as a method, one per class on one network."""

# Importing a method's file makes it known; the order is that of the table of methods.
from scarce.methods.meta import cvir, dist_pu, elkan_noto, nnpu, pusb, upu, vpu

__all__ = ["upu", "nnpu", "vpu", "dist_pu", "cvir", "tedn", "pusb", "elkan_noto"]
