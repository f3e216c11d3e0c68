"""Signatures of rounds, made and verified by ssh-keygen with a key that the publisher has already.

A signature says that whoever holds the key vouches for exactly these bytes. Whose key it is no file
beside it can prove: compare its fingerprint with what the publisher says elsewhere.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sizebook.model.errors import HostLacksError, UserError
from sizebook.store.plain_files import plain_size
from sizebook.store.rounds import ROUND

NAMESPACE = "sizebook"
WHO = "publisher"
_PROGRAM = "ssh-keygen"
_WAIT_S = 60
_SHORT = 16

State = Literal["good", "bad", "unsigned", "not verified"]


@dataclass(frozen=True)
class Signature:
    """What is known of a round's signature; ``words`` name the key, or say what is wrong."""

    state: State
    words: str


def signature_names(sha256: str) -> tuple[str, str]:
    """Return the files of the signature of a ``round.json`` with this checksum, and of its signers.

    They bear its checksum, so that a new ``round.json`` never has an old one's signature.
    """
    return f"round-{sha256[:_SHORT]}.sig", f"round-{sha256[:_SHORT]}.allowed_signers"


def sign(path: Path, key: Path) -> tuple[bytes, bytes]:
    """Return the signature of a file, and the line that allows its key.

    The program asks for the key's pass phrase itself. Raises HostLacksError without ssh-keygen,
    UserError for a key that does not sign.
    """
    _need()
    beside = path.with_name(f"{path.name}.sig")
    beside.unlink(missing_ok=True)
    _run(["-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(path)], key, quiet=False)
    public = key if key.suffix == ".pub" else key.with_name(f"{key.name}.pub")
    text = public.read_text() if public.is_file() else _run(["-y", "-f", str(key)], key)
    kind, data = text.split()[:2]
    signature = beside.read_bytes()
    beside.unlink()
    return signature, f'{WHO} namespaces="{NAMESPACE}" {kind} {data}\n'.encode()


def verify(folder: Path, sha256: str) -> Signature:
    """Return what the signature of the round in a folder is worth."""
    signature, signers = signature_names(sha256)
    if plain_size(folder, signature) is None:
        return Signature("unsigned", "nobody signed it")
    if plain_size(folder, signers) is None:
        return Signature("bad", f"a signature without {signers}")
    if shutil.which(_PROGRAM) is None:
        return Signature("not verified", f"signed, but {_PROGRAM} is not here to verify it")
    given = ["-f", str(folder / signers), "-I", WHO, "-n", NAMESPACE, "-s", str(folder / signature)]
    done = subprocess.run(
        [_PROGRAM, "-Y", "verify", *given],
        input=(folder / ROUND).read_bytes(),
        capture_output=True,
        timeout=_WAIT_S,
        check=False,
    )
    said = (done.stdout or done.stderr).decode(errors="replace").strip()
    words = said.partition("\n")[0][:200]
    return Signature("good" if done.returncode == 0 else "bad", words)


def _need() -> None:
    if shutil.which(_PROGRAM) is None:
        raise HostLacksError(
            found=f"no {_PROGRAM} here",
            expected="OpenSSH, version 8.0 or later, to sign with",
            next_step="install openssh-client, or publish without --sign",
        )


def _run(words: list[str], key: Path, *, quiet: bool = True) -> str:
    try:
        done = subprocess.run(
            [_PROGRAM, *words],
            stdin=subprocess.DEVNULL if quiet else None,
            capture_output=True,
            text=True,
            timeout=None if not quiet else _WAIT_S,
            check=False,
        )
        trouble = done.stderr.strip().partition("\n")[0] if done.returncode else ""
    except subprocess.TimeoutExpired:
        trouble = "no answer"
    if trouble:
        raise UserError(
            found=f"{key.name}, with which {_PROGRAM} does not sign: {trouble[:200]}",
            expected="a private SSH key, or the public one of a key that an agent holds",
            next_step="ssh-keygen -t ed25519 -f KEY makes one",
        )
    return done.stdout
