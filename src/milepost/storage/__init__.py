"""SQL: tables, statements, dialect differences and migrations."""
