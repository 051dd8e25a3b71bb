import hashlib

import pytest

from milepost.tokens import secrets

KINDS = ("mpc", "mps", "mpl", "mpt")


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_names_its_kind_and_its_id_and_is_found_again_in_what_somebody_sends(kind):
    made = secrets.make(kind)
    assert made.text.startswith(f"{kind}_{made.id}_")
    assert secrets.parse(made.text, kind) == made
    assert secrets.make(kind) != made


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_of_one_kind_is_none_of_another(kind):
    text = secrets.make(kind).text
    assert [other for other in KINDS if secrets.parse(text, other)] == [kind]


def test_only_the_hash_is_stored_and_only_the_right_secret_matches_it():
    made, other = secrets.make("mpc"), secrets.make("mpc")
    assert made.hash == hashlib.sha256(made.text.encode()).digest()
    assert made.matches(made.hash)
    assert not other.matches(made.hash)
    assert not made.matches(b"")


def test_no_representation_shows_a_secret():
    made = secrets.make("mps")
    assert made.text[-43:] not in f"{made} {made!r} {[made]}"


@pytest.mark.parametrize("more", [" ", "\n", "x", "=", "\u0430", "x" * 100_000])
def test_anything_around_it_makes_it_no_secret(more):
    text = secrets.make("mpc").text
    assert secrets.parse(text + more, "mpc") is None
    assert secrets.parse(more + text, "mpc") is None


@pytest.mark.parametrize(
    "text", ["", "mpc", "mpc_", "mpc__", "mpc_0123456789abcdef_", "mpx_0123456789abcdef_" + "h" * 43]
)
def test_what_has_another_shape_is_no_secret(text):
    assert secrets.parse(text, "mpc") is None


def test_case_counts():
    assert secrets.parse(secrets.make("mpc").text.upper(), "mpc") is None
