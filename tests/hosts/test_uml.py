"""What user-mode Linux needs on CPUs with more registers than it knows of."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import signal
import sys
from pathlib import Path

import pytest

from sizebook.hosts.uml import ptrace_library
from sizebook.model.errors import HostLacksError

TRACE_ME, GET_SET, SET_SET, XSTATE, PEEK_DATA = 0, 0x4204, 0x4205, 0x202, 2
SMALL = 832
"""Bytes of the oldest registers, the header, and those of AVX: less than any CPU has today."""


class Buffer(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


def test_a_cpu_without_more_registers_needs_nothing(tmp_path):
    """The flag is a word of its own in /proc/cpuinfo."""
    facts = tmp_path / "cpuinfo"
    facts.write_text("flags\t\t: fpu avx512f xamx_tile amx_tiles\n")
    assert ptrace_library(tmp_path, facts) is None


def test_without_a_compiler_the_message_says_what_to_install(tmp_path, monkeypatch):
    facts = tmp_path / "cpuinfo"
    facts.write_text("flags\t\t: fpu amx_bf16 amx_tile\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostLacksError, match=r"no C compiler.*apt-get install gcc"):
        ptrace_library(tmp_path, facts)


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64" or not shutil.which("cc"),
    reason="the library is of x86 Linux and needs a C compiler",
)
def test_a_small_buffer_sets_the_registers_that_it_holds(tmp_path):
    """Linux itself refuses a buffer smaller than all registers; the library completes it."""
    facts = tmp_path / "cpuinfo"
    facts.write_text("flags\t\t: fpu amx_bf16 amx_tile\n")
    library = ptrace_library(tmp_path, facts)
    assert library == ptrace_library(tmp_path, facts)
    traces = {}
    for name in (library, None):
        traces[name] = ctypes.CDLL(name and str(name), use_errno=True).ptrace
        traces[name].restype = ctypes.c_long
    pid = os.fork()
    if pid == 0:
        traces[None](TRACE_ME, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    try:
        os.waitpid(pid, os.WUNTRACED)
        held = ctypes.create_string_buffer(SMALL)
        given = Buffer(ctypes.addressof(held), SMALL)
        key = ctypes.c_long(XSTATE)
        assert traces[library](GET_SET, pid, key, ctypes.byref(given)) == 0
        held[160:168] = b"register"  # the first half of XMM0
        held[512] = bytes((held[512][0] | 0b10,))
        refused = traces[None](SET_SET, pid, key, ctypes.byref(given))
        assert (refused, ctypes.get_errno() != 0) in ((-1, True), (0, False))
        assert traces[library](SET_SET, pid, key, ctypes.byref(given)) == 0
        again = ctypes.create_string_buffer(SMALL)
        seen = Buffer(ctypes.addressof(again), SMALL)
        assert traces[library](GET_SET, pid, key, ctypes.byref(seen)) == 0
        assert again[160:168] == b"register"
        word = ctypes.c_long(0x5123456789)
        assert traces[library](PEEK_DATA, pid, ctypes.c_void_p(ctypes.addressof(word)), None) >= 0
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_the_source_comes_with_the_package():
    """It is compiled on the reader's machine."""
    import sizebook.hosts

    assert Path(sizebook.hosts.__file__).with_name("xstate.c").is_file()
