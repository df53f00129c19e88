"""Backups and restores: a name always names something whole, the old or the new."""

from checks import require
from commands import DATABASE, Command, hot_database


class Backup(Command):
    """A backup where there is none."""

    name = "backup"
    backup = "backup.sqlite"
    options = []
    leftovers = Command.leftovers | {
        f"backup.sqlite{gz}{partial}{companion}" for gz in ("", ".gz")
        for partial in (".partial", ".copy.partial") for companion in ("", "-journal", "-wal", "-shm")}

    def arguments(self, folder):
        return ["backup", "--database", folder / DATABASE, folder / self.backup, *self.options]

    def result(self, folder):
        return None if self.options else folder / self.backup

    def state(self, folder):
        """The database, and what its backup holds."""
        scratch = folder.parent / "tried"
        return (super().state(folder),
                self.program.backup_content(folder / self.backup, scratch))

    def after_kill(self, folder, before, after):
        database, backup = self.state(folder)
        require(database == before[0], "the database has changed")
        require(backup in (before[1], after[1]), "the backup is neither the old nor the new one")


class CompressedBackup(Backup):
    """A compressed backup in the place of an older one."""

    name = "backup --compress --overwrite"
    backup = "backup.sqlite.gz"
    options = ["--compress", "--overwrite"]

    def prepare(self, folder):
        super().prepare(folder)
        self.program.run("seed", "--database", folder / "older", "--generate", 200)
        self.program.run("backup", "--database", folder / "older", folder / self.backup, "--compress")
        (folder / "older").unlink()


class Restore(Command):
    """A backup where there is no database."""

    name = "restore"
    options = []
    leftovers = Command.leftovers | {
        f"{DATABASE}.restoring{companion}" for companion in ("", "-journal", "-wal", "-shm")}

    def prepare(self, folder):
        self.make_backup(folder)

    def make_backup(self, folder):
        self.program.run("seed", "--database", folder / "other", "--generate", 300)
        self.program.run("backup", "--database", folder / "other", folder / "backup.gz", "--compress")
        (folder / "other").unlink()

    def arguments(self, folder):
        return ["restore", "--database", folder / DATABASE, folder / "backup.gz", *self.options]

    def result(self, folder):
        return None if self.options else folder / DATABASE

    def after_kill(self, folder, before, after):
        require(self.state(folder) in (before, after), "neither the old nor the new database is there")


class RestoreOver(Restore):
    """A backup in the place of a database that has its last writes in the log."""

    name = "restore --overwrite"
    options = ["--overwrite"]

    def prepare(self, folder):
        hot_database(self.program, folder, 400)
        self.make_backup(folder)
