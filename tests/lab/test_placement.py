"""Which CPUs of this machine a deployment is given."""

from sizebook.lab.placement import stack_cpus
from sizebook.model.deployment import DatabaseRole, Deployment, GivenRole, HostSpec, JvmRole

STACK = Deployment(roles=(DatabaseRole(), JvmRole(role="app", heap_mib=384)))


def test_the_stacks_cpus_are_those_that_are_set_here():
    """Of roles and hosts; not those of another machine, nor of what runs already."""
    pinned = STACK.changed("app", cpus=(1, 2)).changed("database", cpus=(2, 3))
    assert (stack_cpus(STACK), stack_cpus(pinned)) == ((), (1, 2, 3))
    box = HostSpec(name="box", mode="container", cpus=(0,))
    assert stack_cpus(STACK.on(box, app="box", database="box")) == (0,)
    far = HostSpec(name="far", mode="ssh", cpus=(5,))
    assert stack_cpus(pinned.on(far, app="far")) == (2, 3)
    given = GivenRole(role="shop", url="http://127.0.0.1:8080", cpus=(4,))
    assert stack_cpus(Deployment(roles=(given,))) == ()
