"""Lets ``python -m scarce`` and ``torchrun -m scarce`` do what ``scarce`` does."""

from scarce.cli.main import main_and_exit

if __name__ == "__main__":
    main_and_exit()
