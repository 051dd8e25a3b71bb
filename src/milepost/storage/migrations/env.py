"""Called by Alembic: runs the migrations on the connection it was given, or writes their SQL."""

from alembic import context

from milepost.storage.tables import metadata


def _offline(url: str) -> None:
    context.configure(url=url, target_metadata=metadata, literal_binds=True, transactional_ddl=True)
    with context.begin_transaction():
        context.run_migrations()


def _online() -> None:
    connection = context.config.attributes["connection"]
    # One transaction around everything: on a database whose DDL takes part in it, all steps happen or none does.
    ddl = connection.dialect.name in {"sqlite", "postgresql"}
    context.configure(connection=connection, target_metadata=metadata, transactional_ddl=ddl)
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():
    _offline(context.config.attributes["url"])
else:
    _online()
