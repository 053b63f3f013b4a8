"""``python -m scarce`` is the command ``scarce``."""

import sys

from scarce.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
