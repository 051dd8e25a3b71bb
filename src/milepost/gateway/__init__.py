"""The realtime gateway: one feed per process reads the stream log in position order, thin skins carry it to viewers."""
