"""The databases: tables once, statements, and one small place per database for what differs."""
