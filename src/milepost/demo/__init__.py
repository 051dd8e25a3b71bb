"""The demonstration: a document pipeline that uses only the public interfaces."""
