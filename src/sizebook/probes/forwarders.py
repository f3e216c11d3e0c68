"""Programs that pass on what another one answers: their CPU is not the server's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import psutil

from sizebook.probes.base import CounterSample, QuietProbe

_FORWARDERS = frozenset(
    (
        *("docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "passt"),
        *("gvproxy", "vpnkit", "com.docker.backend", "wslrelay", "conmon"),
        *("docker", "podman", "nerdctl", "kubectl", "oc", "minikube", "k3s", "lxc"),
        *("ssh", "sshd", "autossh", "socat", "ncat", "nc", "netcat", "redir", "rinetd", "xinetd"),
        *(
            "systemd",
            "systemd-socket-proxyd",
            "frpc",
            "frps",
            "chisel",
            "cloudflared",
            "tailscaled",
        ),
        *("stunnel", "stunnel4", "toxiproxy-server"),
    )
)
"""Ports of containers, pods and other machines, tunnels, and what listens for a program that it
starts. A balancer or a web server in front may be what is measured, and is none of these."""
_COMM = 15
"""Linux keeps so many characters of a process's name."""
_SHORT = {name[:_COMM]: name for name in _FORWARDERS}
_TOLD = ("cpu_user_s", "cpu_system_s", "rss_bytes")


def forwarder_name(pid: int) -> str:
    """Return the name of a process that only passes on, such as ``docker-proxy``; else nothing.

    ``kubectl port-forward`` may run under another file's name: its first argument counts as well.
    """
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            words = [process.name()]
            with contextlib.suppress(psutil.Error):  # another user's, or a zombie
                words += [Path(word).name for word in process.cmdline()[:1]]
    except psutil.Error:
        return ""
    for word in words:
        # sshd calls its processes "sshd: user@pts/0"; names are cut after 15 characters.
        plain = word.split(":", 1)[0].strip()
        if (name := _SHORT.get(plain[:_COMM])) is not None and name.startswith(plain):
            return name
    return ""


class PassedOnProbe(QuietProbe):
    """Takes no reading: says why there is none of a server whose process is not to be seen here."""

    def __init__(self, source: str, name: str, *, host: str, interval_s: float) -> None:
        """``name`` is the program that stands between."""
        self.name = f"process:{source}"
        self.host = host
        self.interval_s = interval_s
        self._reason = (
            f"{name} passes the requests on: its CPU and memory are not the server's. "
            f"Name the server's own address, or watch its machine as a host"
        )

    def sample(self) -> list[CounterSample]:
        return []

    def lacking(self) -> dict[str, str]:
        """Return the reason for each figure of a process that matters."""
        return dict.fromkeys(_TOLD, self._reason)


def passes_on(pid: Callable[[], int | None]) -> str:
    """Return the name of the forwarder that a process is, if it is one."""
    number = pid()
    return forwarder_name(number) if number is not None else ""
