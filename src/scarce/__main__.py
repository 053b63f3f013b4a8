"""Run the command line as ``python -m scarce`` or ``torchrun -m scarce``."""

from scarce.cli.main import main_and_exit

if __name__ == "__main__":
    main_and_exit()
