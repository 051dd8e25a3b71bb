"""The real parts that tests start: databases, servers, browsers."""
