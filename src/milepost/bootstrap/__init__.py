"""Turns settings into running parts: the only room that names concrete drivers."""
