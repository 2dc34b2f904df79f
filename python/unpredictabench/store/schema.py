"""The tables of a run, their version, and the steps from each version to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpredictabench.errors import StoreError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

FILE_NAME = "run.sqlite"
APPLICATION_ID = 0x55504231  # "UPB1", read by file(1) and by `version_of`

_TABLES = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE plan (
        task TEXT NOT NULL, n_slots INTEGER NOT NULL, messages TEXT NOT NULL,
        PRIMARY KEY (task, n_slots))""",
    "CREATE TABLE events (at REAL NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL)",
    """CREATE TABLE completions (
        task TEXT NOT NULL, "index" INTEGER NOT NULL, text TEXT, status TEXT NOT NULL,
        reasoning TEXT, finish_reason TEXT, model TEXT, fingerprint TEXT, response_id TEXT,
        prompt_tokens INTEGER, completion_tokens INTEGER, created_at REAL NOT NULL,
        latency_s REAL NOT NULL, attempts INTEGER NOT NULL, seed INTEGER,
        n_asked INTEGER NOT NULL, PRIMARY KEY (task, "index"))""",
)
_APPEND_ONLY = tuple(
    f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} "
    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    for table in ("settings", "plan", "events", "completions")
    for verb in ("UPDATE", "DELETE")
)
# A BEFORE INSERT trigger also stops INSERT OR REPLACE, which deletes without a delete trigger.
_FIRST_ANSWER_STAYS = (
    """CREATE TRIGGER completions_first BEFORE INSERT ON completions
    WHEN EXISTS (SELECT 1 FROM completions WHERE task = NEW.task AND "index" = NEW."index")
    BEGIN SELECT RAISE(IGNORE); END""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = ((*_TABLES, *_APPEND_ONLY, *_FIRST_ANSWER_STAYS),)
"""Statements that lead from version i to version i + 1; never edited once released."""


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """Return the schema version; refuse files of other programs and of newer versions."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (n_objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if n_objects and application != APPLICATION_ID:
        raise StoreError(f"{path} is an SQLite file but not a run; choose another folder")
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{path} was written by a newer unpredictabench (schema {version}, this one reads "
            f"up to {len(MIGRATIONS)}): upgrade the package"
        )
    return int(version)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a file to the present version in one transaction; an empty file becomes a run."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[version_of(connection, path) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
