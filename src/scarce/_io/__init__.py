"""Files: checks of paths, atomic writes, and the formats that several packages read."""
