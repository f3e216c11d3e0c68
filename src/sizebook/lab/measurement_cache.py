"""What is on disk already: the cache of measurements, and folders of bundles to replay."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from sizebook.checks import interfered
from sizebook.hosts.machine import local_facts
from sizebook.lab.inventories import machine_fingerprints, target_fingerprints
from sizebook.lab.planning import Session
from sizebook.lab.trials import Trial, compare_fingerprints
from sizebook.load.data_files import data_root, print_files
from sizebook.model.bundle import Fingerprints
from sizebook.model.deployment import ServerRole
from sizebook.model.errors import BundleError, HostLacksError, UsageError
from sizebook.model.trial import TrialSpec
from sizebook.stack.build import stack_fingerprint
from sizebook.stack.jvms import choose_jvm, find_jvms
from sizebook.stack.servers import server_fingerprint
from sizebook.store import Bundle, Project, cache_key, find_bundles, open_bundle
from sizebook.store.bundles import newest_of
from sizebook.store.fingerprints import fingerprint_file, fingerprint_machine
from sizebook.store.sandboxed_read import taste_bundles

AS_MEASURED = "SIZEBOOK_AS_MEASURED"
"""Environment variable by which bundles are taken as by a measurement that has just made them:
neither stale nor foreign. The audit sets it for pages that were measured. With the source
``measure`` nothing more is measured: the page shows what was, so far."""


MOST_TRIES = 3
"""How often a trial that fails is tried in all; a run tries it once."""
TRY_ALL = "SIZEBOOK_TRY_ALL"
"""Environment variable by which trials are tried again however often they have failed."""


class Archive:
    """The bundles of one chapter in ``data/runs``."""

    def __init__(self, project: Project, chapter: str) -> None:
        self._project = project
        self._chapter = chapter
        bundles = readable_bundles(project.runs / chapter)
        self._alike: dict[str, list[Bundle]] = defaultdict(list)
        """Bundles by the key that they would have if their load profiles had read nothing."""
        for bundle in bundles:
            self._alike[_key_without_data(bundle)].append(bundle)
        self._attempts = Counter(bundle.record.key for bundle in bundles)
        self._measured = {bundle.record.trial.identity for bundle in bundles}

    def key(self, spec: TrialSpec) -> str:
        """Return the cache key of a trial on this machine with the present sources.

        What its load profile reads is known from the newest bundle with the same profile.
        """
        newest = self.newest(spec)
        if newest is not None:
            return newest.record.key
        return cache_key(spec, present_fingerprints(self._project, spec))

    def missing(self, sessions: Iterable[Session]) -> tuple[Session, ...]:
        """Return the sessions that must be run, each with only what is not settled yet."""
        left = (session.after(session.collect(self.settled)) for session in sessions)
        return tuple(session for session in left if session.remaining(()))

    def interfered(self, sessions: Iterable[Session], most: int) -> tuple[Session, ...]:
        """Return the sessions to run again, each with only what the machine interfered with.

        A trial of which there are more than ``most`` bundles stays as it is. What the trial found
        plays no part, so that this picks no results; see ``checks.INTERFERENCE``.
        """

        def kept(spec: TrialSpec) -> Bundle | None:
            bundle = self.newest(spec)
            if bundle is None or self._attempts[bundle.record.key] > most:
                return bundle
            return None if interfered(bundle) else bundle

        left = (session.after(session.collect(kept)) for session in sessions)
        return tuple(session for session in left if session.remaining(()))

    def planned(self, sessions: Iterable[Session]) -> tuple[Trial, ...]:
        """Return the newest bundle of each planned trial that has one, failed ones included."""
        found: list[Bundle] = []
        for session in sessions:
            first = (self.newest(spec) for spec in session.contacts)
            found += [bundle for bundle in first if bundle is not None]
            found += session.collect(self.newest)
        return tuple(Trial(bundle) for bundle in found)

    def newest(self, spec: TrialSpec) -> Bundle | None:
        """Return the newest bundle of a trial; a completed one wins over a failed one.

        A bundle whose load profile read a file that is another one now is none of it.
        """
        fitting = newest_of(self._fitting(spec), lambda _: None)
        return fitting[0] if fitting else None

    def _fitting(self, spec: TrialSpec) -> list[Bundle]:
        if spec.identity not in self._measured:  # spares the key, which is computed from all of it
            return []
        alike = self._alike.get(cache_key(spec, present_fingerprints(self._project, spec)), ())
        return [bundle for bundle in alike if has_present_data(self._project, bundle)]

    def settled(self, spec: TrialSpec) -> Bundle | None:
        """Return the newest bundle of a trial that completed, or failed ``MOST_TRIES`` times."""
        bundle = self.newest(spec)
        if bundle is None or bundle.record.outcome == "completed":
            return bundle
        tired = self._attempts[bundle.record.key] >= MOST_TRIES
        return bundle if tired and not os.environ.get(TRY_ALL) else None

    def replay(self, source: Iterable[Bundle], profile: str) -> tuple[Trial, ...]:
        """Return the newest bundle of each trial in a source, marked if stale or foreign.

        Raises UsageError if there is none of this profile.
        """
        bundles = [b for b in source if b.record.trial.chapter == self._chapter]
        chosen = [b for b in bundles if b.record.trial.profile == profile]
        if not chosen:
            others = sorted({str(b.record.trial.profile) for b in bundles}) or ["none"]
            raise UsageError(
                found=f"no {profile!r} bundles of chapter {self._chapter!r} in the source "
                f"(profiles there: {', '.join(others)})",
                expected="bundles of that chapter and profile",
                next_step="choose another source or profile, or measure",
            )
        newest = newest_of(sorted(chosen, key=_started), lambda one: one.record.trial.identity)
        if taken_as_measured():
            return tuple(Trial(bundle) for bundle in newest)
        return tuple(mark_trial(self._project, bundle) for bundle in newest)


def taken_as_measured() -> bool:
    """Return whether bundles are taken as a measurement does that has just made them."""
    return bool(os.environ.get(AS_MEASURED))


def read_source(project: Project, folder: Path) -> list[Bundle]:
    """Return the bundles below a folder that is to be replayed; raises BundleError for damage.

    Those from elsewhere are tasted before.
    """
    paths = list(find_bundles(folder))
    if not _is_own(project, folder):
        taste_bundles(paths)
    return [open_bundle(path) for path in paths]


def mark_trial(project: Project, bundle: Bundle, own: Sequence[Bundle] = ()) -> Trial:
    """Return a trial marked if it is stale or foreign.

    It is compared with what a measurement would be now. Where a page stands as it was measured,
    that is what the page's ``own`` bundles say of stack, capture, machine and JVMs, so that an
    audit on another machine marks as the page did.
    """
    measured = bundle.record.fingerprints
    now = present_fingerprints(project, bundle.record.trial, measured.data)
    jvms = {now.jvm}
    if own:
        then = own[-1].record.fingerprints
        kept = {"stack": then.stack, "capture_version": then.capture_version}
        now = now.model_copy(update={**kept, "machine": then.machine, "hosts": then.hosts})
        jvms = {each.record.fingerprints.jvm for each in own} | jvms
    return Trial(
        bundle,
        stale=compare_fingerprints(measured, now),
        foreign=(measured.machine, measured.hosts) != (now.machine, now.hosts)
        or measured.jvm not in jvms,
    )


def _is_own(project: Project, folder: Path) -> bool:
    """Return whether bundles of a folder were made here, or came with the book."""
    places = (project.runs, project.published, project.state / "published")
    return any(folder.resolve().is_relative_to(place.resolve()) for place in places)


def present_fingerprints(
    project: Project, spec: TrialSpec, data: Iterable[str] = ()
) -> Fingerprints:
    """Return the fingerprints that a measurement of this trial would have here and now.

    ``data`` names the files that its load profile reads, as an earlier measurement has told.
    """
    return Fingerprints(
        stack=_stack(project),
        jvm=_jvms(tuple(role.jvm for role in spec.deployment.jvm_roles())),
        locustfile=_locustfile(project, spec.load.locustfile),
        machine=_machine(),
        hosts=machine_fingerprints(
            project, (host.name for host in (*spec.deployment.hosts, *spec.load.hosts))
        )
        | target_fingerprints(
            (*spec.deployment.given, *(role.role for role in spec.deployment.own_roles()))
        ),
        servers={
            role.role: found
            for role in spec.deployment.own_roles()
            if isinstance(role, ServerRole) and (found := _server(project, role.model_dump_json()))
        },
        data=print_files(data_root(project.locustfiles), data),
    )


@lru_cache(maxsize=8)
def _stack(project: Project) -> str:
    return stack_fingerprint(project)


@lru_cache(maxsize=64)
def _jvms(features: tuple[str, ...]) -> str:
    installed = find_jvms()
    titles = []
    for feature in features:
        with contextlib.suppress(HostLacksError):  # replaying bundles needs no JVM
            titles.append(choose_jvm(feature, installed).title)
    return ", ".join(dict.fromkeys(titles))


@lru_cache(maxsize=64)
def _server(project: Project, role: str) -> str:
    return server_fingerprint(ServerRole.model_validate_json(role), project.root, project.state)


@lru_cache(maxsize=64)
def _locustfile(project: Project, name: str) -> str:
    path = project.locustfiles / name
    if not path.is_file():
        raise UsageError(
            found=f"load profile {name!r}",
            expected=f"a file in {project.locustfiles.name}/",
            next_step="correct the name in the notebook, or add the file",
        )
    return fingerprint_file(path)


@lru_cache(maxsize=1)
def _machine() -> str:
    return fingerprint_machine(local_facts())


def has_present_data(project: Project, bundle: Bundle) -> bool:
    """Return whether the files that a bundle's load profile read are still what they were."""
    read = bundle.record.fingerprints.data
    return print_files(project.root, read) == read


def _key_without_data(bundle: Bundle) -> str:
    record = bundle.record
    if not record.fingerprints.data:
        return record.key
    return cache_key(record.trial, record.fingerprints.model_copy(update={"data": {}}))


def readable_bundles(folder: Path) -> list[Bundle]:
    """Return the bundles below a folder; damaged ones are named on the terminal and left out."""
    bundles = []
    for path in find_bundles(folder):
        try:
            bundles.append(open_bundle(path))
        except BundleError as error:  # kept for the audit; its trial is measured again
            print(f"left out: {error}", file=sys.stderr)
    return bundles


def _started(bundle: Bundle) -> str:
    return bundle.record.execution.started_utc
