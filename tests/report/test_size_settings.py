"""Settings of an answer: what the manifests take, what a JVM takes, what Little's law says."""

from __future__ import annotations

import copy
import math
import subprocess
from dataclasses import replace
from typing import Any

import kubernetes_validate
import pytest
import yaml
from sample_book import MODEL

from sizebook.lab import Placement, app_stack
from sizebook.model.memory import NATIVE_MIB
from sizebook.report.size_settings import (
    DEPLOYMENT,
    as_arguments,
    as_json,
    as_patch,
    derive_settings,
)
from sizebook.stack.manifests import manifests
from sizebook.stats.sizing import Demanded, Offer, candidates, predict

ASKED = Demanded("mean", 0.2, users=120.0, think_s=1.0, spare_nodes=1)
OFFER = Offer((0.8,), beside_heap_mib=NATIVE_MIB)


def settings(asked: Demanded = ASKED, model: Any = MODEL) -> Any:
    chosen = candidates(model, asked, OFFER)[0]
    assert chosen.rejected is None
    return derive_settings(model, asked, chosen)


def app_deployment(**more: Any) -> dict[str, Any]:
    here = Placement(stack=(0,), generator=(), total_heap_mib=1024)
    made = manifests(app_stack(here, **more), "image")
    return next(one for one in made if one["metadata"]["name"] == DEPLOYMENT
                and one["kind"] == "Deployment")  # fmt: skip


def patched(value: Any, patch: Any) -> Any:
    """Return what a strategic merge patch makes: maps are merged, containers by their name."""
    if isinstance(value, dict):
        merged = {key: patched(value.get(key), each) for key, each in patch.items()}
        return {**value, **merged}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        [change] = patch
        return [patched(one, change) if one["name"] == change["name"] else one for one in value]
    return copy.deepcopy(patch)


def test_the_patch_makes_the_manifest_of_these_settings() -> None:
    """Arguments as if they had been made with the settings; nothing else changes but resources."""
    found = settings()
    result = patched(app_deployment(), yaml.safe_load(as_patch(found)))
    expected = app_deployment(nodes=2, heap_mib=found.heap_mib, settings=found.of_stack)
    container = expected["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {
        "requests": {"cpu": "800m", "memory": f"{found.heap_mib + NATIVE_MIB}Mi"},
        "limits": {"cpu": "800m", "memory": f"{found.heap_mib + 2 * NATIVE_MIB}Mi"},
    }
    assert result == expected
    kubernetes_validate.validate(result, "1.31", strict=True)


def test_a_model_without_heap_patches_no_memory() -> None:
    """What is not known is left out, and said."""
    found = settings(model=replace(MODEL, heap=None))
    text = as_patch(found)
    [container] = yaml.safe_load(text)["spec"]["template"]["spec"]["containers"]
    assert container == {"name": "app", "resources": {"requests": {"cpu": "800m"},
                                                      "limits": {"cpu": "800m"}}}  # fmt: skip
    assert "# heap: not known" in text
    assert "-Xmx" not in as_arguments(found)
    kubernetes_validate.validate(patched(app_deployment(), yaml.safe_load(text)), "1.31")


def test_threads_and_pool_follow_littles_law() -> None:
    """One of two nodes carries all; the mean is within, and so are three deviations of it."""
    found = settings()
    said = predict(MODEL, ASKED, 0.8, 2)
    within = said.rate_per_s * said.mean_s * MODEL.bands["mean"]
    assert found.threads == math.ceil(within + 3 * math.sqrt(within))
    assert 1 <= found.pool <= found.threads
    assert found.connections == 120
    few = settings(replace(ASKED, users=2.0))
    assert max(few.threads, few.pool) <= 2


def test_random_requests_have_no_number_of_connections() -> None:
    """It is left out with a comment, everywhere."""
    found = settings(Demanded("mean", 0.2, rate_per_s=50.0))
    assert found.connections is None
    assert "max-connections" not in as_arguments(found)
    assert "# connections: not known" in as_arguments(found)
    assert "server.tomcat.max-connections" not in as_json(found)["properties"]


@pytest.mark.jvm
def test_a_jvm_takes_the_file(tmp_path) -> None:
    """Comments and flags: the heap is the one that was answered, the properties are there."""
    found = settings()
    file = tmp_path / "answer.args"
    file.write_text(as_arguments(found))
    done = subprocess.run(
        ["java", f"@{file}", "-XshowSettings:properties", "-XX:+PrintFlagsFinal", "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"server.tomcat.threads.max = {found.threads}" in done.stderr
    [heap] = [line for line in done.stdout.splitlines() if " MaxHeapSize " in line]
    # a collector may round a heap up to its regions
    assert 0 <= int(heap.split("=")[1].split()[0]) - (found.heap_mib << 20) < 2 << 20
