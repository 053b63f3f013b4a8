"""A summary of labels, to check before training."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scarce.labels.container import ComplementaryLabels

_MAX_CLASSES_SHOWN = 20


@dataclass(frozen=True)
class LabelSummary:
    """Counts of labels per class and per example; printing it shows a short table.

    Attributes
    ----------
    n_examples, n_classes, n_exclusions : int
        Number of examples n, of classes q, and of exclusions.
    n_confirmed : int
        Number of examples with a confirmed class.
    n_answers, n_skipped : int
        Number of answers, and how many of them are "skip"; 0 for labels without answers.
    examples_by_exclusions : tuple of int
        Entry m is the number of examples with m exclusions.
    classes : tuple of length q
        The class names.
    counts : tuple of int of length q
        Number of examples n_k that exclude each class.
    rates : tuple of float of length q
        Fraction of examples π̄_k = n_k / n that exclude each class.

    See Also
    --------
    ComplementaryLabels.summary : Summarize labels.

    Examples
    --------
    >>> from scarce.labels import ComplementaryLabels
    >>> print(ComplementaryLabels.from_single(["cat", "dog", "dog"], classes=["cat", "cow", "dog"]).summary())
    3 examples, 3 classes, 3 exclusions (1.00 per example)
    examples with 0 / 1 / 2 exclusions: 0 / 3 / 0
    examples with a confirmed class: 0
    class  excluded   rate
    cat           1  0.333
    cow           0  0.000  never excluded: no evidence against it
    dog           2  0.667
    """

    n_examples: int
    n_classes: int
    n_exclusions: int
    n_confirmed: int
    n_answers: int
    n_skipped: int
    examples_by_exclusions: tuple[int, ...]
    classes: tuple[Any, ...]
    counts: tuple[int, ...]
    rates: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as a JSON-serializable dict of its attributes."""
        return asdict(self)

    def __str__(self) -> str:
        sizes = self.examples_by_exclusions
        lines = [
            f"{self.n_examples:,} examples, {self.n_classes:,} classes, {self.n_exclusions:,} exclusions "
            f"({self.n_exclusions / self.n_examples:.2f} per example)",
            f"examples with {' / '.join(map(str, range(len(sizes))))} exclusions: {' / '.join(f'{size:,}' for size in sizes)}"
            if len(sizes) <= _MAX_CLASSES_SHOWN
            else f"examples without exclusions: {sizes[0]:,}; most exclusions on one example: {len(sizes) - 1}",
            f"examples with a confirmed class: {self.n_confirmed:,}",
        ]
        if self.n_answers:
            lines.append(f"answers: {self.n_answers:,} ({self.n_skipped:,} skipped)")
        width = max(5, *(len(str(name)) for name in self.classes))
        lines.append(f"{'class':<{width}}  {'excluded':>8}  {'rate':>5}")
        for name, count, rate in list(zip(self.classes, self.counts, self.rates, strict=True))[
            :_MAX_CLASSES_SHOWN
        ]:
            note = "" if count else "  never excluded: no evidence against it"
            lines.append(f"{name!s:<{width}}  {count:>8,}  {rate:.3f}{note}")
        if self.n_classes > _MAX_CLASSES_SHOWN:
            never = sum(count == 0 for count in self.counts[_MAX_CLASSES_SHOWN:])
            lines.append(
                f"... and {self.n_classes - _MAX_CLASSES_SHOWN:,} more classes, {never:,} of them never excluded"
            )
        return "\n".join(lines)


def summarize(labels: "ComplementaryLabels") -> LabelSummary:
    """Count exclusions, confirmed classes and answers."""
    shows_all = labels.n_classes <= _MAX_CLASSES_SHOWN
    sizes = np.bincount(labels.per_example, minlength=labels.n_classes if shows_all else 1)
    return LabelSummary(
        n_examples=labels.n_examples,
        n_classes=labels.n_classes,
        n_exclusions=len(labels.indices),
        n_confirmed=int((labels.confirmed >= 0).sum()),
        n_answers=0 if labels.answers is None else len(labels.answers),
        n_skipped=0 if labels.answers is None else int((labels.answers.answer == -1).sum()),
        examples_by_exclusions=tuple(sizes.tolist()),
        classes=tuple(labels.classes.tolist()),
        counts=tuple(labels.counts.tolist()),
        rates=tuple(labels.rates.tolist()),
    )
