"""The command line, called in this process, and data sets in files."""

from helpers.command_line import dataset_dir, digits_dir, run, run_expecting_error, shards  # noqa: F401
