"""Learning methods: one file each, one small interface."""

from scarce.methods import (
    answers_likelihood as answers,
)

# Importing a method's file makes it known; the order is that of the table of methods.
from scarce.methods import (
    cavl,
    cc,
    cpe,
    discriminative,
    forward,
    idgp,
    least_excluded,
    lws,
    meta,
    order_preserving,
    pc,
    pop,
    rc,
    refine,
    scar_likelihood,
    scarce,
    surrogate,
    ure,
)
from scarce.methods import (
    multiple_labels as lmcl,
)
from scarce.methods.base import Batch, Method, MethodFacts, Problem
from scarce.methods.registry import available_methods, make_method, register

__all__ = [
    "Batch",
    "Method",
    "MethodFacts",
    "Problem",
    "available_methods",
    "make_method",
    "register",
]
