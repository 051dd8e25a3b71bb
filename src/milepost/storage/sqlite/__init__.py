"""SQLite: one writer thread, a few reader threads, and everything that is different here."""
