"""All of the contract in one class, so that no database can leave a part out."""

from milepost.testing.storage_suite.access import AccessSuite
from milepost.testing.storage_suite.claims import ClaimSuite
from milepost.testing.storage_suite.definitions import DefinitionSuite
from milepost.testing.storage_suite.epochs import EpochSuite
from milepost.testing.storage_suite.lists import ListSuite
from milepost.testing.storage_suite.lookups import LookupSuite
from milepost.testing.storage_suite.notices import NoticeSuite
from milepost.testing.storage_suite.operating import OperatingSuite
from milepost.testing.storage_suite.positions import PositionSuite
from milepost.testing.storage_suite.processes import ProcessSuite
from milepost.testing.storage_suite.replay import ReplaySuite
from milepost.testing.storage_suite.retention import RetentionSuite
from milepost.testing.storage_suite.round_trip import RoundTripSuite
from milepost.testing.storage_suite.transactions import TransactionSuite
from milepost.testing.storage_suite.watching import WatchingSuite


class StorageSuite(
    RoundTripSuite,
    TransactionSuite,
    LookupSuite,
    PositionSuite,
    ListSuite,
    ReplaySuite,
    AccessSuite,
    OperatingSuite,
    NoticeSuite,
    ClaimSuite,
    WatchingSuite,
    RetentionSuite,
    DefinitionSuite,
    EpochSuite,
    ProcessSuite,
):
    """Everything a database must do. A fixture `site` gives a `Site` on an empty, migrated database."""
