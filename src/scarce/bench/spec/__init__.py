"""What an experiment file says."""
