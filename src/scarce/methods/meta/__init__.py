"""SCARCE-Meta: any positive-unlabeled (PU) learner becomes a method, with one PU problem per class and one shared network."""

from scarce.methods.meta.base import MetaMethod, MixtureMethod

# Importing a method's file registers it; the order is that of the table of methods.
# isort: off
from scarce.methods.meta.upu import MetaUPU
from scarce.methods.meta.nnpu import MetaNNPU
from scarce.methods.meta.vpu import MetaVPU
from scarce.methods.meta.dist_pu import MetaDistPU
from scarce.methods.meta.cvir import MetaCVIR, MetaTEDn
from scarce.methods.meta.pusb import MetaPUSB
from scarce.methods.meta.elkan_noto import MetaElkanNoto
# isort: on

__all__ = [
    "MetaMethod",
    "MixtureMethod",
    "MetaUPU",
    "MetaNNPU",
    "MetaVPU",
    "MetaDistPU",
    "MetaCVIR",
    "MetaTEDn",
    "MetaPUSB",
    "MetaElkanNoto",
]
