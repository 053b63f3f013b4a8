"""The command line: one module per command; numpy and torch are imported only when a command runs."""
