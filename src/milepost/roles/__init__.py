"""Loops that run one step again and again, back off and stop gracefully."""
