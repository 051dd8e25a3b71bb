"""The only codec: API bodies, messages and payload hashes."""
