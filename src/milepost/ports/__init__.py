"""Protocols between the use cases and the parts that do I/O."""
