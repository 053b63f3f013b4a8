"""Lets ``python -m scarce`` and ``torchrun -m scarce`` do what ``scarce`` does."""

import os
import sys

from scarce.cli._runtime import rank
from scarce.cli.main import main

if __name__ == "__main__":
    code = main()
    if rank() > 0:
        # Skip interpreter shutdown: torch's threads sometimes abort it, and only rank 0 has anything left to write.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
