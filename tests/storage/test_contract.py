from milepost.testing.storage_suite.whole import StorageSuite


class TestSqlite(StorageSuite):
    """All of the contract, on real files."""
