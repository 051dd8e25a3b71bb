"""Counters, timings and structured logs."""
