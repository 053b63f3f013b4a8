"""Learning methods: one file each, one small interface."""

from scarce.methods.base import Batch, Method, MethodFacts, Problem
from scarce.methods.partial_label import ConfidenceMethod
from scarce.methods.registry import available_methods, make_method, register
from scarce.methods.single_label import PairMethod

# Importing a method's file registers it; the order is that of the table of methods.
# isort: off
from scarce.methods.scarce import Scarce, ScarceCCE, ScarceURE
from scarce.methods.pc import PairwiseComparison
from scarce.methods.ure import GradientAscentRisk, NonNegativeRisk, UncorrectedRisk
from scarce.methods.discriminative import DiscriminativeUnweighted, DiscriminativeWeighted
from scarce.methods.order_preserving import OrderPreserving, OrderPreservingWeighted
from scarce.methods.forward import Forward
from scarce.methods.surrogate import SurrogateExponential, SurrogateNegativeLearning
from scarce.methods.cpe import CPEFixedTransition, CPEIdentity, CPETrainedTransition
from scarce.methods.multiple_labels import (
    MultipleLabelExp,
    MultipleLabelGCE,
    MultipleLabelLog,
    MultipleLabelMAE,
    MultipleLabelMSE,
    MultipleLabelPhuberCE,
)
from scarce.methods.cc import ClassifierConsistent
from scarce.methods.rc import PRODEN, RiskConsistent
from scarce.methods.lws import LWS
from scarce.methods.cavl import CAVL
from scarce.methods.pop import POP
from scarce.methods.idgp import IDGP
from scarce.methods.meta import (
    MetaCVIR,
    MetaDistPU,
    MetaElkanNoto,
    MetaMethod,
    MetaNNPU,
    MetaPUSB,
    MetaTEDn,
    MetaUPU,
    MetaVPU,
)
from scarce.methods.scar_likelihood import ScarLikelihood
from scarce.methods.least_excluded import LeastExcluded
from scarce.methods.refine import Refine
from scarce.methods.answers_likelihood import AnswersLikelihood
# isort: on

__all__ = [
    "Batch",
    "Method",
    "MethodFacts",
    "Problem",
    "PairMethod",
    "ConfidenceMethod",
    "MetaMethod",
    "available_methods",
    "make_method",
    "register",
    "Scarce",
    "ScarceURE",
    "ScarceCCE",
    "PairwiseComparison",
    "UncorrectedRisk",
    "NonNegativeRisk",
    "GradientAscentRisk",
    "DiscriminativeUnweighted",
    "DiscriminativeWeighted",
    "OrderPreserving",
    "OrderPreservingWeighted",
    "Forward",
    "SurrogateNegativeLearning",
    "SurrogateExponential",
    "CPEIdentity",
    "CPEFixedTransition",
    "CPETrainedTransition",
    "MultipleLabelMAE",
    "MultipleLabelMSE",
    "MultipleLabelGCE",
    "MultipleLabelPhuberCE",
    "MultipleLabelExp",
    "MultipleLabelLog",
    "ClassifierConsistent",
    "RiskConsistent",
    "PRODEN",
    "LWS",
    "CAVL",
    "POP",
    "IDGP",
    "MetaUPU",
    "MetaNNPU",
    "MetaVPU",
    "MetaDistPU",
    "MetaCVIR",
    "MetaTEDn",
    "MetaPUSB",
    "MetaElkanNoto",
    "ScarLikelihood",
    "LeastExcluded",
    "Refine",
    "AnswersLikelihood",
]
