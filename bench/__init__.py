"""Measurements, one module each with a `main()` that prints its numbers. They are run by hand, never by the tests."""
