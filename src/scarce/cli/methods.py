"""``scarce methods``: what can be trained with, from the facts of the methods themselves."""

__all__ = ["methods"]


def methods() -> None:
    """List the learning methods and what they need."""
    from scarce.cli.show import print_table
    from scarce.methods import available_methods

    print_table(
        ["name", "title", "assumes", "needs", "accepts", "paper"],
        [
            [
                facts.name,
                facts.title,
                facts.assumes,
                ", ".join(["priors"] * facts.needs_priors + ["transition"] * facts.needs_transition) or "-",
                ", ".join(facts.accepts),
                facts.paper,
            ]
            for facts in available_methods().values()
        ],
    )
