"""Milepost gives every asynchronous task one reliable, recoverable, near-real-time status."""
