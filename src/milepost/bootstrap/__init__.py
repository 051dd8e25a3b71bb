"""Turns settings into concrete objects; the only room that names drivers."""
