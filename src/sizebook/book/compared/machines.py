"""How alike the machines of two runs are, told by facts without a name, and what differs.

- **Same host**: all facts of the machine are equal (system, kernel, architecture, processor,
  number of processors, memory to a GiB, virtualization), and so are those of every other host that
  an inventory brought in. Nothing that identifies one machine is kept, so two machines that are
  equal in all of it are taken for one host.
- **Same class**: architecture, processor, number of processors, memory to a GiB and virtualization
  are equal; system and kernel need not be.
- **Other class**: anything else. There only verdicts of claims are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sizebook.book.compared.comparison import Closeness, ConditionDifference
from sizebook.model.bundle import BundleRecord, MachineFacts
from sizebook.model.plain_text import show_plainly
from sizebook.store.fingerprints import fingerprint_machine, fingerprint_machine_class

SAME_HOST = 1.05
SAME_CLASS = 1.10
"""Ratio within which two runs are the same: 5 % on the same host, 10 % on one of its class."""
TOLERANCES: Mapping[Closeness, float] = {"same host": SAME_HOST, "same class": SAME_CLASS}
_MOST_WORDS = 160

Records = Mapping[str, Sequence[BundleRecord]]
"""Records of the trials that a run's results cite, by chapter."""


def closeness_of(a: Iterable[BundleRecord], b: Iterable[BundleRecord]) -> Closeness:
    """Return how alike the machines behind two sets of trials are; unknown without trials."""
    one, other = list(a), list(b)
    if not one or not other:
        return "unknown"
    hosts = [{host_of(each) for each in side} for side in (one, other)]
    if hosts[0] == hosts[1] and len(hosts[0]) == 1:
        return "same host"
    classes = [{fingerprint_machine_class(each.machine) for each in side} for side in (one, other)]
    elsewhere = any(each.fingerprints.hosts for each in (*one, *other))
    same = classes[0] == classes[1] and len(classes[0]) == 1
    return "same class" if same and not elsewhere else "other class"


def machine_words(machine: MachineFacts) -> str:
    """Return a machine in a few words, such as ``2 x Xeon, 24 GiB, kvm``."""
    model = " ".join(machine.cpu_model.split())[:80] or machine.architecture
    memory = round(machine.memory_mib / 1024)
    return show_plainly(
        f"{machine.logical_cpus} x {model}, {memory} GiB, {machine.virtualization[:40]}"
    )


@dataclass(frozen=True)
class _Aspect:
    what: str
    meaning: str
    read: Callable[[BundleRecord], str]


_ASPECTS = (
    _Aspect("processor", "times and rates differ; ratios between treatments may hold",
            lambda one: one.machine.cpu_model),
    _Aspect("processors", "how much runs side by side",
            lambda one: str(one.machine.logical_cpus)),
    _Aspect("memory", "what is cached, and which heaps fit",
            lambda one: f"{round(one.machine.memory_mib / 1024)} GiB"),
    _Aspect("architecture", "compilers make other code", lambda one: one.machine.architecture),
    _Aspect("virtualization", "what lies between the kernel and the hardware",
            lambda one: one.machine.virtualization),
    _Aspect("idle processors", "what a thread that wakes up waits for",
            lambda one: one.machine.idle or "as the system has it"),
    _Aspect("system", "libraries and defaults", lambda one: one.machine.system),
    _Aspect("kernel", "what system calls, scheduling and the network cost",
            lambda one: one.machine.kernel),
    _Aspect("other machines", "an inventory brought in hosts of its own",
            lambda one: ", ".join(f"{name} {sha[:8]}"
                                  for name, sha in sorted(one.fingerprints.hosts.items()))),
    _Aspect("JVM", "another compiler, another collector", lambda one: one.fingerprints.jvm),
    _Aspect("stack build", "other sources of the servers under test",
            lambda one: one.fingerprints.stack[:12]),
    _Aspect("capture version of the harness",
            "samples are taken otherwise: only claims are compared, no times",
            lambda one: str(one.fingerprints.capture_version)),
    _Aspect("profile", "other durations and numbers of replicates", lambda one: one.trial.profile),
)  # fmt: skip


def list_differences(a: Records, b: Records) -> list[ConditionDifference]:
    """Return what differs between the trials of two runs, the machine first; both by chapter.

    Only chapters with trials on both sides are looked at.
    """
    common = [chapter for chapter in a if a[chapter] and b.get(chapter)]
    found = []
    for aspect in _ASPECTS:
        found += _differ(aspect.what, aspect.meaning, common,
                         [{c: {aspect.read(one) for one in side[c]} for c in common}
                          for side in (a, b)])  # fmt: skip
    for name in sorted({each for side in (a, b) for c in common for one in side[c]
                        for each in one.versions if not each.startswith(_PER_HOST)}):  # fmt: skip
        found += _differ(f"version of {name[:60]}", "other software", common,
                         [{c: {one.versions.get(name, "none") for one in side[c]} for c in common}
                          for side in (a, b)])  # fmt: skip
    return [*found, *_load_profiles(a, b, common)]


_PER_HOST = ("host ", "jvm ", "java ")
"""Versions that tell again what kernel and JVM tell, once for each host or node."""


def differ_in(
    what: str, meaning: str, a: Mapping[str, str], b: Mapping[str, str]
) -> list[ConditionDifference]:
    """Return the difference in one value by chapter, if there is one."""
    common = [chapter for chapter in a if chapter in b]
    return _differ(what, meaning, common, [{c: {side[c]} for c in common} for side in (a, b)])


def _differ(
    what: str, meaning: str, common: Sequence[str], sides: Sequence[Mapping[str, set[str]]]
) -> list[ConditionDifference]:
    one, other = sides
    where = tuple(chapter for chapter in common if one[chapter] != other[chapter])
    if not where:
        return []
    words = [_join(set().union(*(side[chapter] for chapter in where))) for side in sides]
    shown = () if len(where) == len(common) else where
    return [ConditionDifference(what=what, a=words[0], b=words[1], meaning=meaning, chapters=shown)]


def _load_profiles(a: Records, b: Records, common: Sequence[str]) -> list[ConditionDifference]:
    """Return the load profiles of the same name that are not the same files."""
    files: list[dict[str, dict[str, set[str]]]] = []
    for side in (a, b):
        by_name: dict[str, dict[str, set[str]]] = {}
        for chapter in common:
            for one in side[chapter]:
                prints = by_name.setdefault(one.trial.load.locustfile, {})
                prints.setdefault(chapter, set()).add(one.fingerprints.locustfile[:12])
        files.append(by_name)
    found = []
    for name in sorted(files[0].keys() & files[1].keys()):
        shared = [c for c in files[0][name] if c in files[1][name]]
        found += _differ(f"load profile {name[:60]}", "users do something else", shared,
                         [side[name] for side in files])  # fmt: skip
    return found


def host_of(record: BundleRecord) -> tuple[str, ...]:
    """Return what tells hosts apart: facts of the machine, and of each host of an inventory."""
    hosts = (f"{name}:{sha}" for name, sha in sorted(record.fingerprints.hosts.items()))
    return fingerprint_machine(record.machine), *hosts


def _join(words: set[str]) -> str:
    text = "; ".join(sorted(words)) or "none"
    return show_plainly(text if len(text) <= _MOST_WORDS else f"{text[: _MOST_WORDS - 1]}…")
