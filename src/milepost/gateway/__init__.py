"""Realtime delivery to viewers: subscribe, replay, isolate the slow."""
