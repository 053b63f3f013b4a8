"""Reading and writing files: paths, atomic writes, and the formats that several packages share."""
