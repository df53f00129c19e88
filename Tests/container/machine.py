"""What this machine has to make images from, where no registry of images can be reached."""

import pathlib
import shutil
import subprocess

from checks import Skipped

# What debootstrap's root lacks to be Debian's slim image: these rules, and what they leave out.
SLIM = """\
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
"""


def run(*command, timeout, **options):
    """Runs it to its end; what it printed is in the error if it failed."""
    done = subprocess.run(
        [str(word) for word in command], text=True, capture_output=True, timeout=timeout, **options)
    if done.returncode != 0:
        name = " ".join(map(str, command[:3]))
        raise RuntimeError(f"{name} …: {(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def debian_mirror(release):
    """Where this machine's apt reads the packages of that release."""
    text = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)",
               "Created-By: Packages", timeout=60)
    for line in text.splitlines():
        address, _, name = line.partition(" ")
        if name == release:
            return address
    raise Skipped(f"this machine's apt reads no packages of Debian's {release}")


def debian_root(release, folder):
    """Makes Debian's slim root in the folder."""
    run("debootstrap", "--variant=minbase", release, folder, debian_mirror(release), timeout=600)
    (folder / "etc/dpkg/dpkg.cfg.d/docker").write_text(SLIM)
    for path in [*folder.glob("usr/share/doc/*/*"), *folder.glob("usr/share/doc/*"),
                 *folder.glob("usr/share/info/*"), *folder.glob("usr/share/locale/*"),
                 *folder.glob("usr/share/man/*"), *folder.glob("var/lib/apt/lists/*"),
                 *folder.glob("var/cache/apt/archives/*.deb")]:
        if path.is_symlink() or path.name == "copyright":
            continue
        if path.is_dir() and not (path / "copyright").exists():
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()


def swift_toolchain():
    """The folder that holds the toolchain's usr, and Swift's version."""
    swift = shutil.which("swift")
    if not swift:
        raise Skipped("there is no swift on the PATH")
    folder = pathlib.Path(swift).resolve().parents[2]
    if folder == pathlib.Path("/"):
        raise Skipped("the Swift toolchain lies in /usr, from where it cannot be lent to an image")
    words = run(swift, "--version", timeout=60).split()
    return folder, words[words.index("version") + 1]


def git_sources(config):
    """Writes to this file which addresses git reads from elsewhere; the folders that it reads."""
    done = subprocess.run(
        ["git", "config", "--null", "--get-regexp", r"^url\..*\.insteadof$"],
        text=True, capture_output=True, timeout=60)
    folders = set()
    config.write_text("")
    for entry in done.stdout.split("\0"):
        key, _, address = entry.partition("\n")
        if not key:
            continue
        elsewhere = key[len("url."):-len(".insteadof")]
        run("git", "config", "--file", config, "--add", f"url.{elsewhere}.insteadOf", address,
            timeout=60)
        path = pathlib.Path(elsewhere.removeprefix("file://"))
        if path.is_absolute() and path.is_dir():
            folders.add(path)
    return sorted(folders)


def build_mounts(folder):
    """What a build reads of this machine, read-only, so that no Dockerfile has to know of it: the
    toolchain, git's other sources, apt's."""
    config = folder / "gitconfig"
    sources = git_sources(config)
    toolchain, _ = swift_toolchain()
    mounts = {path: path for path in [toolchain, *sources, "/etc/apt", "/usr/share/keyrings"]}
    mounts[config] = "/etc/gitconfig"
    return [f"--volume={source}:{target}:ro" for source, target in mounts.items()]
