"""What is in the image, and what its settings say."""

import re
import subprocess

import images
from checks import require
from machine import run

IMAGE = images.IMAGE


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


def size(engine):
    """How large the image is, laid out and as a registry sends it, and what of that is the program."""
    entire = engine.inspect("image", IMAGE)["Size"]
    folder = engine.folder / "pushed"
    engine.buildah("push", "--quiet", IMAGE, f"dir:{folder}", timeout=300)
    sent = sum(path.stat().st_size for path in folder.iterdir())
    subprocess.run(["rm", "-rf", folder], check=True)
    files = file_sizes(engine)
    program = files["usr/bin/lookahead"]
    # libcurl brings what it stands on: LDAP, Kerberos, SSH.
    require(entire < 125e6, f"{megabytes(entire)} are too many")
    return (f"{megabytes(entire)}, {megabytes(sent)} compressed; {len(files)} files,"
            f" the program {megabytes(program)}")


def file_sizes(engine):
    """The image's files, not its folders."""
    name = "listed"
    engine.podman("create", "--name", name, IMAGE)
    try:
        mount = engine.podman("mount", name).strip()
        found = run("find", mount, "-type", "f", "-printf", "%P %s\n", timeout=60)
        lines = (line.rsplit(" ", 1) for line in found.splitlines())
        return {path: int(count) for path, count in lines}
    finally:
        engine.podman("rm", "--force", name)


def nothing_besides(engine):
    """No shell and no tool beside the program; every package in it has its record and its licence."""
    files = file_sizes(engine)
    programs = sorted(path for path in files if re.search(r"(^|/)s?bin/", path))
    require(programs == ["usr/bin/lookahead"], f"programs: {programs}")
    for shell in ["/bin/sh", "/bin/bash", "sh"]:
        status, _, _ = engine.once(IMAGE, "-c", "true", options=[f"--entrypoint={shell}"])
        require(status != 0, f"{shell} runs")
    records = {path.rsplit("/", 1)[1] for path in files if path.startswith("var/lib/dpkg/status.d/")}
    licences = {path.split("/")[3] for path in files if path.endswith("/copyright")}
    require("libsqlite3-0" in records, f"records of {records}")
    require(licences == records | {"lookahead"}, f"licences of {licences}")
    return "libraries of " + ", ".join(sorted(records))


def settings(engine):
    """User, volumes, port, signal, health check and labels, as docker/README.md has them."""
    config = engine.inspect("image", IMAGE)["Config"]
    found = {
        "User": config["User"], "Volumes": sorted(config["Volumes"]),
        "Ports": sorted(config["ExposedPorts"]), "StopSignal": config["StopSignal"],
        "Entrypoint": config["Entrypoint"], "Cmd": config["Cmd"],
    }
    wanted = {
        "User": "10001:10001", "Volumes": ["/data"], "Ports": ["8080/tcp"],
        "StopSignal": "SIGTERM", "Entrypoint": ["/usr/bin/lookahead"], "Cmd": ["serve"],
    }
    require(found == wanted, f"{found}")
    health = health_check(engine)
    require(health == ["/usr/bin/lookahead", "health"], str(health))


def health_check(engine):
    """The command of the image's HEALTHCHECK."""
    found = engine.inspect("image", IMAGE)
    # Docker has it among the settings, podman beside them.
    check = found.get("Healthcheck") or found["Config"]["Healthcheck"]
    require(check["Test"][0] == "CMD", f"{check} wants a shell")
    return check["Test"][1:]


def version(engine):
    """The program and the labels name the same release and commit."""
    status, said, errors = engine.once(IMAGE, "--version")
    require(status == 0, errors)
    labels = engine.inspect("image", IMAGE)["Labels"]
    release = labels["org.opencontainers.image.version"]
    commit = labels["org.opencontainers.image.revision"]
    require(commit == images.commit(), f"the label names {commit}")
    require(said.split()[0] == release, f"the program says {said}, the label {release}")
    require(commit[:12] in said, f"the program says {said}, the label {commit}")
    return said.strip()


CHECKS = {
    "its size": size,
    "nothing in it but the program and its libraries": nothing_besides,
    "its settings": settings,
    "lookahead --version, and the labels": version,
}
