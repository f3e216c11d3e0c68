"""Pages taken away from a process: found in its map, gone, and read again from the file."""

import mmap
import subprocess
import sys
from pathlib import Path

import pytest

from sizebook.hosts.paging import find_heap_files, page_out, why_not_page

MAPS = """\
55af9b53f000-55af9b586000 rw-p 00000000 00:00 0                          [heap]
f8000000-ffe00000 rw-s 00000000 fe:00 11051055                           /a b/#11051055 (deleted)
7f2de0400000-7f2de7eb2000 r--s 00000000 fe:00 315140                     /usr/lib/modules
7f2d48021000-7f2d4c000000 rw-s 00000000 fe:00 12                         /tmp/hsperfdata_x/12
"""
HOLDER = """
import mmap, os, sys, tempfile
size = int(sys.argv[1])
with tempfile.TemporaryFile(dir=".") as file:
    file.truncate(size)
    with mmap.mmap(file.fileno(), size) as memory:
        memory[:] = b"x" * size
        print("ready", flush=True)
        sys.stdin.readline()
        print(memory[::4096].count(b"x"[0]), flush=True)
        sys.stdin.readline()
"""
SIZE = 8 << 20


def test_only_files_without_a_name_are_taken():
    """The JVM's counters and libraries stay where they are."""
    assert find_heap_files(MAPS) == [(0xF8000000, 0xFFE00000)]
    assert find_heap_files("") == []


@pytest.mark.skipif(bool(why_not_page()), reason=why_not_page())
def test_pages_go_and_come_back(tmp_path):
    """Resident pages go down by the file's size; what was written is there when it is read."""
    words = [sys.executable, "-c", HOLDER, str(SIZE)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, cwd=tmp_path, text=True, **pipes) as holder:
        try:
            assert holder.stdout.readline() == "ready\n"
            before = resident_bytes(holder.pid)
            assert page_out(holder.pid) == SIZE
            assert before - resident_bytes(holder.pid) > SIZE // 2
            print(file=holder.stdin, flush=True)
            assert int(holder.stdout.readline()) == SIZE // mmap.PAGESIZE
            assert before - resident_bytes(holder.pid) < SIZE // 4
        finally:
            holder.kill()


@pytest.mark.skipif(bool(why_not_page()), reason=why_not_page())
def test_a_process_without_such_a_file_loses_nothing():
    """Nothing to take is no error here; a process that is gone is one."""
    with subprocess.Popen(["sleep", "30"]) as process:
        try:
            assert page_out(process.pid) == 0
        finally:
            process.kill()
    with pytest.raises(OSError, match="process"):
        page_out(process.pid)


def resident_bytes(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * mmap.PAGESIZE
