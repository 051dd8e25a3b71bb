"""Signed tokens: issue, verify, rotate keys."""
