"""What script/package makes: the Debian package and the tarball."""

import shutil
import subprocess

import debian
import images
import machine
from checks import Skipped, require

# Debian with systemd, all that a package holds (the slim image leaves manuals out), and what this one
# wants, fetched but not installed: the container itself has no network but its own.
CLEAN = """\
FROM {debian}
RUN rm /etc/dpkg/dpkg.cfg.d/docker && apt-get update \
  && apt-get install --yes --no-install-recommends dbus man-db systemd
COPY *.deb /package/
RUN apt-get install --yes --no-install-recommends --download-only /package/*.deb ffmpeg \
  && mkdir -p /archives/partial && cp /var/cache/apt/archives/*.deb /archives/
CMD ["/lib/systemd/systemd"]
"""


def packages():
    folder = images.ROOT / ".build/packages"
    return next(folder.glob("*.deb")), next(folder.glob("*.tar.gz"))


def makes(_):
    """script/package, twice with the same bytes; nothing that lintian calls an error."""
    machine.run(images.ROOT / "script/package", timeout=1500)
    package, archive = packages()
    first = package.read_bytes(), archive.read_bytes()
    machine.run(images.ROOT / "script/package", timeout=600)
    require((package.read_bytes(), archive.read_bytes()) == first, "another run gives other bytes")
    sizes = zip([package.name, archive.name], map(len, first))
    return ", ".join(f"{name} {count / 1e6:.1f} MB" for name, count in sizes)


def pleases_lintian(_):
    if not shutil.which("lintian"):
        raise Skipped("there is no lintian")
    done = subprocess.run(
        ["lintian", "--allow-root", packages()[0]], text=True, capture_output=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line[:2] in ("E:", "W:")]
    require(not [line for line in lines if line.startswith("E:")], "\n".join(lines))
    return "; ".join(lines) or "no errors, no warnings"


def archive_runs(engine):
    """The tarball's program, where it was unpacked."""
    folder = engine.folder / "unpacked"
    folder.mkdir(exist_ok=True)
    machine.run("tar", "--extract", "--file", packages()[1], "--directory", folder,
                "--strip-components=1", timeout=60)
    database = folder / "feed.sqlite"
    database.unlink(missing_ok=True)
    program, fixtures = folder / "bin/lookahead", folder / "share/lookahead/fixtures"
    machine.run(program, "seed", "--fixtures", fixtures, "--database", database, timeout=60)
    here, there = (sorted((path.relative_to(root), path.stat().st_size) for path in root.rglob("*.*"))
                   for root in [images.ROOT / "Fixtures/media", fixtures / "media"])
    require(here == there, "its fixtures have other files")
    return machine.run(program, "check", "--database", database, timeout=60).strip()


def clean_machine(engine):
    folder = engine.folder / "package"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(packages()[0], folder)
    (folder / "Dockerfile").write_text(CLEAN.format(debian=images.named()["debian"]))
    engine.buildah("build", "--isolation=chroot", "--format=docker", "--pull=never", "--layers",
                   *machine.build_mounts(engine.folder), "--tag", debian.IMAGE, folder, timeout=600)


CHECKS = {"lintian": pleases_lintian, "the tarball": archive_runs}
