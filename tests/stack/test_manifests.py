"""Kubernetes objects of deployments: valid by Kubernetes' own schemas, and the same stack."""

import copy
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from sizebook.lab import Placement, app_stack, binding_stack, null_server, work_stack
from sizebook.stack.manifests import SECRET, manifests

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "env" / "kubernetes"
VERSIONS = ("1.31", "1.37")
"""Kubernetes' releases by whose schemas objects are checked."""
HERE = Placement(stack=(0, 1), generator=(), total_heap_mib=1024)
DEPLOYMENTS = {
    "app": app_stack(HERE),
    "tiers": app_stack(HERE, topology="remote", nodes=3, settings={"threads": 40}),
    "bindings": binding_stack(HERE),
    "work": work_stack(HERE),
    "null": null_server(HERE),
}
OPTIONS = {
    "app": ("--nodes", "2"),
    "tiers": ("--topology", "remote", "--nodes", "2", "--cpus", "2"),
}
"""Files that the command writes: name to its options."""


def objects(deployment):
    return manifests(deployment, "localhost/sizebook-stack:latest")


def container(kind, name, deployment):
    found = next(
        one
        for one in objects(deployment)
        if (one["kind"], one["metadata"]["name"]) == (kind, f"sizebook-{name}")
    )
    return found["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_they_are_valid_by_the_schema(name, version):
    """Strictly: a field that Kubernetes does not know is an error."""
    for each in objects(DEPLOYMENTS[name]):
        kubernetes_validate.validate(each, version, strict=True)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_schema_finds_what_is_wrong(version):
    """An unknown field, a missing one, a wrong type: the check of this test can fail."""
    good = objects(DEPLOYMENTS["app"])[1]
    for change in (
        lambda one: one["spec"].update(replica=1),
        lambda one: one["spec"].pop("selector"),
        lambda one: one["spec"].update(replicas="one"),
    ):
        bad = copy.deepcopy(good)
        change(bad)
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(bad, version, strict=True)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_files_are_what_the_command_prints(name):
    """Made anew with ``sizebook stack manifests OPTIONS > env/kubernetes/NAME.yaml``."""
    words = [sys.executable, "-m", "sizebook.cli", "stack", "manifests", *OPTIONS[name]]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (FOLDER / f"{name}.yaml").read_text() == done.stdout
    for each in yaml.safe_load_all(done.stdout):
        kubernetes_validate.validate(each, VERSIONS[-1], strict=True)


def test_every_file_is_one_of_them():
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(OPTIONS)


def test_sizes_are_those_of_the_deployment():
    """Heap, and what the harness counts beside it; the CPUs of the role."""
    app = container("Deployment", "app", DEPLOYMENTS["tiers"])
    assert app["args"][:2] == ["-Xms512m", "-Xmx512m"]
    assert app["resources"]["requests"] == {"cpu": "2", "memory": "732Mi"}
    assert "--server.tomcat.threads.max=40" in app["args"]
    assert [one["spec"]["replicas"] for one in objects(DEPLOYMENTS["tiers"])
            if one["kind"] == "Deployment"] == [1, 3]  # fmt: skip
    database = container("StatefulSet", "database", DEPLOYMENTS["work"])
    assert "max_parallel_workers_per_gather=0" in database["args"]
    job = container("Job", "load", DEPLOYMENTS["work"])
    assert job["args"][-2:] == ["--ledger", "259480"]


def test_a_node_finds_its_back_end_and_only_who_holds_data_the_database():
    app = container("Deployment", "app", DEPLOYMENTS["tiers"])
    backend = container("Deployment", "backend", DEPLOYMENTS["tiers"])
    assert "--refstack.backend.url=http://sizebook-backend:8080" in app["args"]
    assert "--refstack.backend.rpc=sizebook-backend:7000" in app["args"]
    names = [{one["name"] for one in each["env"]} for each in (app, backend)]
    assert "SPRING_DATASOURCE_URL" not in names[0]
    assert "SPRING_DATASOURCE_URL" in names[1]
    bound = container("Deployment", "app", DEPLOYMENTS["bindings"])
    assert "--refstack.broker.url=tcp://sizebook-broker:8080" in bound["args"]


def test_it_is_balanced_by_a_service_with_probes_behind():
    """Traffic goes to ready pods; a node that takes long to start is not killed for it."""
    service = objects(DEPLOYMENTS["tiers"])[-1]
    assert (service["kind"], service["spec"]["type"]) == ("Service", "NodePort")
    for kind, name in (("Deployment", "app"), ("StatefulSet", "broker")):
        node = container(kind, name, DEPLOYMENTS["bindings"])
        paths = {node[probe]["httpGet"]["path"] for probe in ("startupProbe", "readinessProbe")}
        assert paths == {"/actuator/health/readiness"}
        assert node["livenessProbe"]["httpGet"]["path"] == "/actuator/health/liveness"
    assert "livenessProbe" not in container("Deployment", "nullserver", DEPLOYMENTS["null"])


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_pods_have_no_rights_and_no_password_in_them(name):
    for each in objects(DEPLOYMENTS[name]):
        if "template" not in each["spec"]:
            continue
        pod = each["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert not pod["automountServiceAccountToken"]
        for one in pod["containers"]:
            assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            for variable in one["env"]:
                if "PASSWORD" in variable["name"]:
                    assert variable["valueFrom"]["secretKeyRef"]["name"] == SECRET
                    assert "value" not in variable


def test_the_image_is_built_as_set_up_builds_the_stack():
    """The same goal of Maven on the same sources, for the same Java; the jar where pods look."""
    text = (ROOT / "env" / "Containerfile").read_text()
    assert "mvn -B -q -DskipTests package" in text
    pom = (ROOT / "stack" / "pom.xml").read_text()
    release = pom.split("<java.version>")[1].split("<")[0]
    assert text.count(f"temurin-{release}") + text.count(f"temurin:{release}") == 2
    app = container("Deployment", "app", DEPLOYMENTS["app"])
    jar = app["args"][app["args"].index("-jar") + 1]
    assert f"COPY --from=build /stack/target/refstack {Path(jar).parent}" in text
