"""Learning methods: one file each, one small interface."""

from scarce.methods.base import Batch, Method, MethodFacts, Problem
from scarce.methods.registry import available_methods, make_method, register
from scarce.methods.scarce import Scarce, ScarceCCE, ScarceURE

__all__ = [
    "Batch",
    "Method",
    "MethodFacts",
    "Problem",
    "Scarce",
    "ScarceCCE",
    "ScarceURE",
    "available_methods",
    "make_method",
    "register",
]
