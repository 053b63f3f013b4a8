"""``scarce methods``: the learning methods and their requirements."""

__all__ = ["methods"]


def methods() -> None:
    """List the learning methods and their requirements."""
    from scarce.cli._output import print_table
    from scarce.methods.registry import COLUMNS, method_rows

    print_table(COLUMNS, method_rows())
