"""Results of an experiment: tables, tests, model selection and comparisons."""
