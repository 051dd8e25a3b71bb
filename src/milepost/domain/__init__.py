"""The pure core: states, tables and the decision over one fact."""
