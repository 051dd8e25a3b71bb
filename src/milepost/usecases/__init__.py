"""One verb a function: what the service does, written against ports."""
