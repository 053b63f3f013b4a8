"""The table of methods, made from their facts."""

from scarce.methods.base import MethodFacts
from scarce.methods.registry import available_methods

__all__ = ["COLUMNS", "method_rows", "methods_markdown"]

COLUMNS = ("name", "method", "assumes", "needs", "labels", "paper")


def _labels(facts: MethodFacts) -> str:
    """Return how many labels an example may have."""
    return f"{0 if 'unlabeled' in facts.accepts else 1}{'+' if 'multiple' in facts.accepts else ''}"


def _needs(facts: MethodFacts) -> str:
    """Return what has to be known besides the labels."""
    needs = {
        "priors": facts.needs_priors,
        "transition": facts.needs_transition,
        "answers": facts.needs_answers,
    }
    return ", ".join(name for name, needed in needs.items() if needed) or "-"


def method_rows() -> list[tuple[str, ...]]:
    """Return one row per known method: name, title, assumption, needs, labels per example, paper.

    Examples
    --------
    >>> method_rows()[0][:2]
    ('scarce', 'SCARCE')
    """
    return [
        (
            name,
            facts.title,
            facts.assumes,
            _needs(facts),
            _labels(facts),
            facts.paper,
        )
        for name, facts in available_methods().items()
    ]


def methods_markdown() -> str:
    """Return the table as Markdown, as it stands in the guide to the methods.

    Examples
    --------
    >>> print(methods_markdown().splitlines()[0])
    | name | method | assumes | needs | labels | paper |
    """
    rows = [(f"`{name}`", *rest) for name, *rest in method_rows()]
    lines = [COLUMNS, ("---",) * len(COLUMNS), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
