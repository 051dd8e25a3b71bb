"""The demonstration: a user of the public interfaces, doing real work."""

from milepost.demo.stage import run

__all__ = ["run"]
