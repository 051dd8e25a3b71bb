"""The reporting SDK: facts from a worker to the service, kept in a local outbox on the way."""
