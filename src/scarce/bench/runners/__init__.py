"""Running trials: in local processes or on a Dask cluster, and how far an experiment is."""
