"""What the import contracts cannot say: which third parties a room may use, whoever publishes them next."""

import sys

import grimp
import pytest


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("milepost", include_external_packages=True, cache_dir=None)


def third_parties(graph: grimp.ImportGraph, *rooms: str) -> set[str]:
    """The packages from elsewhere that these rooms reach, directly or through our own modules."""
    own = {module for room in rooms for module in graph.find_descendants(f"milepost.{room}") | {f"milepost.{room}"}}
    reached = own | {module for start in own for module in graph.find_upstream_modules(start)}
    return {module.split(".")[0] for module in reached} - {"milepost"} - set(sys.stdlib_module_names)


def test_the_domain_knows_msgspec_and_nothing_else_from_outside(graph: grimp.ImportGraph):
    assert third_parties(graph, "domain") <= {"msgspec"}


def test_worker_and_client_run_on_the_base_dependencies(graph: grimp.ImportGraph):
    assert third_parties(graph, "worker", "client") <= {"msgspec", "httpx", "click"}


def test_every_room_says_its_job_in_one_line(graph: grimp.ImportGraph):
    rooms = graph.find_children("milepost")
    docs = {room: __import__(room, fromlist=["_"]).__doc__ or "" for room in rooms}
    assert {room for room, doc in docs.items() if not doc.strip()} == set()
