"""The regularization of networks with few labels per class."""

import numpy as np

from scarce.estimators._fit_settings import choose_regularization, labels_per_class
from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.simulate import ask
from scarce.testing import three_blobs


def test_choose_regularization_depends_on_labels_per_class():
    _, y, labels = three_blobs(30)
    assert labels_per_class(labels) == len(labels.indices) / 3
    assert labels_per_class(ask(y, questions=2, seed=0)) == 20
    method = make_method("scar-likelihood")
    assert choose_regularization(method, labels) == {"input_noise": 0.5, "dropout": 0.5}
    assert choose_regularization(method, labels, can_shift=True) == {"augmentation": ("shift",)}
    assert choose_regularization(method, labels, strong=True) == {"input_noise": 1.0, "dropout": 0.5}
    assert choose_regularization(method, labels, can_shift=True, strong=True) == {"augmentation": ("affine",)}
    assert choose_regularization(make_method("scarce"), labels) == {}
    many = ComplementaryLabels.from_single(np.arange(10_000) % 2, classes=2)
    assert choose_regularization(method, many) == {}
