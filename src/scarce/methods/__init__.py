"""Learning methods: one file each, one small interface."""

from scarce.methods.base import Batch, Method, MethodFacts, Problem
from scarce.methods.registry import available_methods, make_method, register

# Importing a method's file registers it; the order is that of the table of methods.
from scarce.methods import (  # isort: skip
    scarce,
    pc,
    ure,
    discriminative,
    order_preserving,
    forward,
    surrogate,
    cpe,
    multiple_labels,
    cc,
    rc,
    lws,
    cavl,
    pop,
    idgp,
    meta,
    scar_likelihood,
    least_excluded,
    refine,
    answers_likelihood,
)

__all__ = [
    "Batch",
    "Method",
    "MethodFacts",
    "Problem",
    "available_methods",
    "make_method",
    "register",
]
