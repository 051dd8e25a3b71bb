"""The contract of a database: a test file gives a fixture `site` and inherits `whole.StorageSuite`, nothing else."""
