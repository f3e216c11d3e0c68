"""A deployment as Kubernetes objects: the same roles, settings, heaps and probes, in pods.

The balancer is a Service; nodes of the app are pods of a Deployment behind it. Roles that keep data
on disk, broker and database, are StatefulSets with a volume. Passwords come from a Secret that the
user makes (``SECRET``): none is written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from sizebook.model.deployment import (
    BalancerRole,
    DatabaseRole,
    Deployment,
    JvmRole,
)
from sizebook.model.memory import DATABASE_MIB, NATIVE_MIB
from sizebook.stack import postgres
from sizebook.stack.endings import LAST_RESORT
from sizebook.stack.nodes import MAINS
from sizebook.stack.settings import node_properties

SECRET = "sizebook"
"""Name of the Secret with the keys ``database-password`` and ``connector-password``."""
PORT, MANAGEMENT_PORT, RPC_PORT, DATABASE_PORT = 8080, 8081, 7000, 5432
_NOBODY = 65534
_DATABASE_USER = 999
"""User ``postgres`` of the image."""
_DATA, _TMP = "/data", "/tmp"
_JAR = "/opt/refstack/refstack.jar"
_POSTGRES_IMAGE = "docker.io/library/postgres:17"


def manifests(deployment: Deployment, image: str, *, disk_gib: int = 4) -> list[dict[str, Any]]:
    """Return the objects of a deployment, in an order in which they can be made.

    ``image`` is what ``env/Containerfile`` builds. Memory is requested as the harness counts it,
    heap and what a JVM takes beside it; a role's CPUs are the number of its CPU set, 1 without one.
    The hosts of a deployment are Kubernetes' business and left out.
    """
    found: list[dict[str, Any]] = []
    database = deployment.database()
    targets: dict[str, str] = {}
    addresses: dict[str, str] = {}
    for role in deployment.roles:
        if isinstance(role, DatabaseRole):
            found += [*_database(role, disk_gib), _load_job(role, image)]
        elif isinstance(role, JvmRole):
            found += _jvm(role, image, targets, addresses, database, disk_gib)
            scheme = "tcp" if role.role == "broker" else "http"
            targets[role.role] = f"{scheme}://{_name(role.role)}:{PORT}"
            if role.role == "backend":
                addresses[role.role] = f"{_name(role.role)}:{RPC_PORT}"
    if any(role.role == "app" for role in deployment.jvm_roles()):
        found.append(_app_service(deployment.balancer()))
    return found


def in_yaml(objects: Iterable[dict[str, Any]]) -> str:
    """Return objects as one file that kubectl takes."""
    return yaml.dump_all(objects, sort_keys=False, explicit_start=True, Dumper=_PlainDumper)


class _PlainDumper(yaml.SafeDumper):
    """Writes what stands twice twice: kubectl takes anchors, people do not."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _database(role: DatabaseRole, disk_gib: int) -> list[dict[str, Any]]:
    name = _name(role.role)
    settings = postgres.SETTINGS | {key: str(value) for key, value in role.settings.items()}
    container = {
        "name": "postgres",
        "image": _POSTGRES_IMAGE,
        "args": [word for key, value in settings.items() for word in ("-c", f"{key}={value}")],
        "env": [
            {"name": "POSTGRES_USER", "value": postgres.OWNER},
            {"name": "POSTGRES_DB", "value": postgres.DATABASE},
            _secret("POSTGRES_PASSWORD", "database-password"),
            {"name": "PGDATA", "value": f"{_DATA}/postgres"},
        ],
        "ports": [{"name": "postgres", "containerPort": DATABASE_PORT}],
        "readinessProbe": {
            "exec": {"command": ["pg_isready", "-U", postgres.OWNER, "-d", postgres.DATABASE]},
            "periodSeconds": 2,
        },
        "resources": _resources(len(role.cpus) or 1, 2 * DATABASE_MIB, 4 * DATABASE_MIB),
        "volumeMounts": [{"name": "data", "mountPath": _DATA}],
        "securityContext": _confined(),
    }
    return [
        _service(name, {"postgres": DATABASE_PORT}, headless=True),
        _stateful_set(name, container, disk_gib, _DATABASE_USER),
    ]


def _load_job(role: DatabaseRole, image: str) -> dict[str, Any]:
    """Return the job that fills the database with the data that the deployment says."""
    words = ["-cp", _JAR, "refstack.load.LoadMain", "--flights", str(role.flights)]
    words += ["--seed", str(role.data_seed)]
    words += ["--ledger", str(role.ledger_rows)] if role.ledger_rows else []
    container = {
        "name": "load",
        "image": image,
        "command": ["java"],
        "args": words,
        "env": [
            {"name": "DB_URL", "value": _jdbc_url()},
            {"name": "DB_USER", "value": postgres.OWNER},
            _secret("DB_PASSWORD", "database-password"),
        ],
        "resources": _resources(1, 512, 1024),
        "securityContext": _confined(read_only=True),
        "volumeMounts": [{"name": "tmp", "mountPath": _TMP}],
    }
    name = _name("load")
    pod = _pod(name, container, _NOBODY, [{"name": "tmp", "emptyDir": {}}])
    pod["spec"]["restartPolicy"] = "OnFailure"
    return _object("batch/v1", "Job", name, {"backoffLimit": 20, "template": pod})


def _jvm(
    role: JvmRole,
    image: str,
    targets: Mapping[str, str],
    addresses: Mapping[str, str],
    database: DatabaseRole | None,
    disk_gib: int,
) -> list[dict[str, Any]]:
    name = _name(role.role)
    words = [f"-Xms{role.heap_mib}m", f"-Xmx{role.heap_mib}m", LAST_RESORT, *role.flags]
    ports = {"http": PORT, "management": MANAGEMENT_PORT}
    if role.role in MAINS:
        words += ["-cp", _JAR, MAINS[role.role], "--address", "0.0.0.0", "--port", str(PORT)]
        if role.role == "broker":
            words += ["--management-port", str(MANAGEMENT_PORT), "--data", _DATA]
        else:
            del ports["management"]
        words += [word for key, value in role.settings.items() for word in (f"--{key}", str(value))]
    else:
        properties = node_properties(role, targets, addresses, "0.0.0.0", PORT, MANAGEMENT_PORT)
        properties |= {"refstack.node.name": role.role, "refstack.node.data": _DATA}
        if role.role == "backend":
            ports["rpc"] = RPC_PORT
            properties["refstack.rpc.port"] = str(RPC_PORT)
        words += ["-jar", _JAR, *(f"--{key}={value}" for key, value in properties.items())]
    environment = [_secret("REFSTACK_CONNECTOR_PASSWORD", "connector-password")]
    if database is not None and "backend" not in targets and role.role not in MAINS:
        environment += [
            {"name": "SPRING_DATASOURCE_URL", "value": _jdbc_url()},
            {"name": "SPRING_DATASOURCE_USERNAME", "value": postgres.OWNER},
            _secret("SPRING_DATASOURCE_PASSWORD", "database-password"),
        ]
    needed = role.heap_mib + NATIVE_MIB
    container = {
        "name": role.role,
        "image": image,
        "command": ["java"],
        "args": words,
        "env": environment,
        "ports": [{"name": port, "containerPort": number} for port, number in ports.items()],
        **_probes("management" in ports),
        "resources": _resources(len(role.cpus) or 1, needed, needed + NATIVE_MIB),
        "volumeMounts": [{"name": "data", "mountPath": _DATA}, {"name": "tmp", "mountPath": _TMP}],
        "securityContext": _confined(read_only=True),
    }
    if role.role == "broker":
        return [
            _service(name, ports, headless=True),
            _stateful_set(name, container, disk_gib, _NOBODY, [{"name": "tmp", "emptyDir": {}}]),
        ]
    spec = {
        "replicas": role.nodes,
        "selector": {"matchLabels": _labels(name)},
        "template": _pod(
            name,
            container,
            _NOBODY,
            [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}],
        ),
    }
    own = [] if role.role == "app" else [_service(name, ports, headless=False)]
    return [*own, _object("apps/v1", "Deployment", name, spec)]


def _probes(managed: bool) -> dict[str, Any]:
    """Return when a node counts as started, ready and alive: by its own health, or by answering."""
    if not managed:
        return {"readinessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 2}}
    health = "/actuator/health"
    ready = {"httpGet": {"path": f"{health}/readiness", "port": "management"}}
    alive = {"httpGet": {"path": f"{health}/liveness", "port": "management"}}
    return {
        "startupProbe": {**ready, "periodSeconds": 2, "failureThreshold": 60},
        "readinessProbe": {**ready, "periodSeconds": 2, "failureThreshold": 3},
        "livenessProbe": {**alive, "periodSeconds": 5, "failureThreshold": 6},
    }


def _app_service(balancer: BalancerRole | None) -> dict[str, Any]:
    """Return the balancer: clients outside reach it at each Kubernetes node's port."""
    service = _service(_name("app"), {"http": PORT}, headless=False)
    service["spec"]["type"] = "NodePort"
    if balancer is not None and balancer.sticky:
        service["spec"]["sessionAffinity"] = "ClientIP"
    return service


def _service(name: str, ports: Mapping[str, int], *, headless: bool) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "selector": _labels(name),
        "ports": [
            {"name": port, "port": number, "targetPort": port} for port, number in ports.items()
        ],
    }
    if headless:
        spec["clusterIP"] = "None"
    return _object("v1", "Service", name, spec)


def _stateful_set(
    name: str,
    container: dict[str, Any],
    disk_gib: int,
    user: int,
    volumes: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": f"{disk_gib}Gi"}},
        },
    }
    spec = {
        "serviceName": name,
        "replicas": 1,
        "selector": {"matchLabels": _labels(name)},
        "template": _pod(name, container, user, volumes or []),
        "volumeClaimTemplates": [claim],
    }
    return _object("apps/v1", "StatefulSet", name, spec)


def _pod(
    name: str, container: dict[str, Any], user: int, volumes: list[dict[str, Any]]
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": user,
            "runAsGroup": user,
            "fsGroup": user,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    if volumes:
        spec["volumes"] = volumes
    return {"metadata": {"labels": _labels(name)}, "spec": spec}


def _object(version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "labels": _labels(name)},
        "spec": spec,
    }


def _confined(*, read_only: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    return found | ({"readOnlyRootFilesystem": True} if read_only else {})


def _resources(cpus: int, request_mib: int, limit_mib: int) -> dict[str, Any]:
    return {
        "requests": {"cpu": str(cpus), "memory": f"{request_mib}Mi"},
        "limits": {"cpu": str(cpus), "memory": f"{limit_mib}Mi"},
    }


def _secret(name: str, key: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": SECRET, "key": key}}}


def _jdbc_url() -> str:
    return f"jdbc:postgresql://{_name('database')}:{DATABASE_PORT}/{postgres.DATABASE}"


def _name(role: str) -> str:
    return f"sizebook-{role}"


def _labels(name: str) -> dict[str, str]:
    return {"app.kubernetes.io/part-of": "sizebook", "app.kubernetes.io/name": name}
