"""Compiles definition documents into the value types of the domain."""
