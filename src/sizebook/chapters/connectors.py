"""Room of the chapter on connectors: app nodes that call a back end, and what a message takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from sizebook.lab import Placement, Setup
from sizebook.lab.roles import app_roles, of_part, share_heap
from sizebook.model.deployment import DatabaseRole, Deployment, JvmRole, RoleSpec
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.records import Scalar
from sizebook.model.trial import Allowance, Disturbance
from sizebook.report import charts, measures, outages, stored_rows, tables
from sizebook.report.counter_increase import rise_per_request, risen
from sizebook.report.quantities import Quantity, means_of, table_of

if TYPE_CHECKING:
    from great_tables import GT

WAYS = {"soap": "es", "rpc": "jco", "logged": "jra"}
"""The three ways, and the report's connectors that they stand for."""
_STORES = {"connector_message": "message"}


def connector_stack(
    placement: Placement,
    *,
    nodes: int = 1,
    total_heap_mib: int = 0,
    backend_heap_mib: int = 512,
    settings: Mapping[str, Scalar] | None = None,
    backend_settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
) -> Deployment:
    """Return app nodes that call one back-end node, which stores into the database.

    The app ``nodes`` share ``total_heap_mib`` (0: the placement's); several stand behind a
    balancer. The back end is the same in every layout. ``settings`` are each app node's (threads,
    connector_pool), ``backend_settings`` the back end's (rpc_threads, pool, login_iterations).
    Raises UsageError if a node's share of the heap is too small to start with.
    """
    heap_mib = share_heap(total_heap_mib or placement.total_heap_mib, nodes)
    cpus = placement.stack
    roles: list[RoleSpec] = [
        DatabaseRole(cpus=cpus),
        JvmRole(
            role="backend",
            heap_mib=backend_heap_mib,
            cpus=cpus,
            jvm=jvm,
            settings=of_part("connectors", backend_settings),
        ),
        *app_roles("connectors", cpus, nodes, heap_mib, settings, jvm),
    ]
    return Deployment(roles=tuple(roles))


@dataclass(frozen=True)
class Senders:
    """Users who each send a message by a connector and wait for its receipt."""

    here: Placement
    users: int
    message_bytes: int
    total_heap_mib: int
    phases: Phases
    seed: int

    def setup(self, connector: str, jvm: str, nodes: int = 1) -> Setup:
        """Return a layout and the messages of one way; its conditioning calls in all of them."""
        stack = connector_stack(self.here, nodes=nodes, jvm=jvm, total_heap_mib=self.total_heap_mib)
        every = self._load("all", self.phases)
        load = self._load(connector, self.phases)
        return Setup(stack, load, stores=_STORES, conditioning=every)

    def killed(self, connector: str, jvm: str, measured_s: float, kill_s: float) -> Setup:
        """Return one node that is killed under load and started again."""
        around = self.phases.model_copy(update={"measured_s": measured_s, "drain_s": 30.0})
        return Setup(
            connector_stack(self.here, jvm=jvm, total_heap_mib=self.total_heap_mib),
            self._load(connector, around),
            Allowance(failed_share=1.0),
            stores=_STORES,
            conditioning=self._load("all", self.phases),
            disturbances=(Disturbance(at_s=kill_s, action="restart", node="app-1"),),
        )

    def _load(self, way: str, phases: Phases) -> LoadProfile:
        return LoadProfile(
            locustfile="connectors.py",
            arrivals=ClosedLoop(users=self.users),
            phases=phases,
            settings={"way": way, "bytes": self.message_bytes},
            seed=self.seed,
            cpus=self.here.generator,
        )


RATE = Quantity("throughput_per_s", "Messages per second", 0, measure=measures.throughput_per_s)
COSTS = (
    Quantity(
        "opened",
        "Connections",
        3,
        measure=rise_per_request("server/backend-", "connector_opened_total"),
    ),
    Quantity(
        "logins", "Logins", 3, measure=rise_per_request("server/backend-", "connector_logins_total")
    ),
    Quantity(
        "forced",
        "Log records forced",
        2,
        measure=rise_per_request("server/app-", "connector_forces_total"),
    ),
    Quantity("disk_flushes", "Disk flushes", 2, measure=rise_per_request("host", "disk_flushes")),
    Quantity("app_cpu_ms", "CPU app (ms)", 2, measure=measures.cpu_ms_per_request("app")),
    Quantity(
        "backend_cpu_ms", "CPU back end (ms)", 2, measure=measures.cpu_ms_per_request("backend")
    ),
    Quantity(
        "database_cpu_ms", "CPU database (ms)", 2, measure=measures.cpu_ms_per_request("database")
    ),
    Quantity(
        "written_kb",
        "Written (kB)",
        1,
        measure=rise_per_request("host", "disk_written_bytes", scale=1e-3),
    ),
)
"""What a message takes."""
_ROLES = {"app": "app_cpu_ms", "back end": "backend_cpu_ms", "database": "database_cpu_ms"}
ACCOUNT = (
    Quantity("connector", "Connector"),
    Quantity("replicate", "Block"),
    Quantity(
        "acknowledged", "Acknowledged", 0, measure=outages.requests_made("message", good=True)
    ),
    Quantity("stored", "Stored", 0, measure=stored_rows.rows_stored("connector_message")),
    Quantity(
        "failed",
        "Not answered, or refused",
        0,
        measure=outages.requests_made("message", good=False),
    ),
    Quantity(
        "committed",
        "Recovered: committed",
        0,
        measure=risen("server/app-", "connector_recovered_total/committed"),
    ),
    Quantity(
        "rolled_back",
        "Recovered: rolled back",
        0,
        measure=risen("server/app-", "connector_recovered_total/rolled-back"),
    ),
    Quantity("away_s", "Back after (s)", 1, measure=outages.away_s),
    Quantity("silence_s", "Without an answer (s)", 1, measure=outages.silence_s("message")),
)


def printed_table(printed: pl.DataFrame) -> GT:
    """Return the report's rates: a row a platform and connector, a column a number of nodes."""
    counts = {"4": "4 nodes", "2": "2 nodes", "1": "1 node"}
    return tables.plain_table(
        printed.pivot("nodes", index=["platform", "connector"], values="value")
        .sort("platform", "connector")
        .select("platform", "connector", *counts),
        labels={"platform": "Platform", "connector": "Connector", **counts},
        digits=dict.fromkeys(counts, 1),
        note="messages per second",
    )


def cpu_chart(frame: pl.DataFrame) -> alt.Chart:
    """Return the CPU time of a message by role, one bar a connector."""
    spent = means_of(frame, ["connector"], *COSTS).select("connector", **_ROLES)
    return charts.stacked_bars(
        spent.unpivot(index="connector", variable_name="role", value_name="cpu_ms"),
        category="connector",
        part="role",
        value="cpu_ms",
        y_title="CPU time per message (ms)",
        part_title="Role",
    )


def account_table(account: pl.DataFrame) -> GT:
    """Return the account of each trial in which the app node was killed."""
    return table_of(
        account.drop_nulls("acknowledged").with_columns(pl.col("replicate") + 1),
        *ACCOUNT,
        note="messages of one trial each; acknowledged by the client's count, stored by the "
        "database's",
    )


def messages_lost(account: pl.DataFrame) -> float:
    """Return the messages of all trials that were acknowledged and not stored."""
    lost = (pl.col("acknowledged") - pl.col("stored")).clip(lower_bound=0)
    return float(account.drop_nulls("acknowledged").select(lost.sum()).item())
