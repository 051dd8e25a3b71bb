"""Why something cannot start: one line for a person each. Whose move it is decides the class."""


class CannotStart(Exception):
    """The root of the reasons."""


class Misconfigured(CannotStart):
    """The settings ask for what cannot be."""


class SchemaBehind(CannotStart):
    """The database's tables are not those of this version."""


class NotAvailable(CannotStart):
    """A part outside of this process cannot be had now."""
