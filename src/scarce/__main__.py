"""Lets ``python -m scarce`` and ``torchrun -m scarce`` do what ``scarce`` does."""

import os
import sys

from scarce.cli.main import main
from scarce.cli.together import rank

if __name__ == "__main__":
    code = main()
    if (
        rank() > 0
    ):  # the first process writes; torch's threads may abort another that ends while the first goes on
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
