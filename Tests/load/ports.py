"""Ports of the loopback for servers that are told theirs."""

import pathlib
import random
import socket


def _lowest_of_clients():
    """The system takes ports of outgoing connections from here upwards (ip(7), `ip_local_port_range`)."""
    try:
        return int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 32_768


def free_port():
    """A port that nobody listens on, and that no outgoing connection of other programs takes before the server does."""
    below = _lowest_of_clients()
    for _ in range(1000):
        port = random.SystemRandom().randrange(10_240, below) if below > 12_000 else 0
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise RuntimeError(f"no port from 10240 to {below} is free")
