"""Running trials in local processes or on a Dask cluster, with progress and status."""
