"""HTTP: requests to use cases, results and errors to responses."""
