"""The static files of the web console, and nothing else."""
