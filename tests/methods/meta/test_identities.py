"""Meta methods that coincide with SCARCE."""

import torch
from helpers.methods import batch_of, double, labels_of, prepared_with_priors, quick, random_problems
from hypothesis import given


@quick
@given(random_problems("any"))
def test_meta_upu_equals_scarce_without_correction(problem):
    logits, excluded, _ = problem
    labels = labels_of(excluded, logits)
    gradients = []
    for name in ("meta-upu", "scarce-ure"):
        f = double(logits).requires_grad_(True)
        loss = prepared_with_priors(name, labels).loss(f, batch_of(labels))
        loss.backward()
        gradients.append((loss.detach(), f.grad))
    torch.testing.assert_close(gradients[0], gradients[1])


@quick
@given(random_problems("any"))
def test_meta_nnpu_equals_scarce_with_nnpu_correction(problem):
    logits, excluded, _ = problem
    labels = labels_of(excluded, logits)
    f, batch = double(logits), batch_of(labels)
    nnpu = prepared_with_priors("meta-nnpu", labels, beta=0.1, gamma=0.5).loss(f, batch)
    scarce = prepared_with_priors("scarce", labels, correction="nnpu", beta=0.1, gamma=0.5).loss(f, batch)
    torch.testing.assert_close(nnpu, scarce)
