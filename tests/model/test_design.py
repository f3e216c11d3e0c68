import pytest

from sizebook.model.design import Design, Factor

FORMAT = Factor("format", ("json", "atom"))
USERS = Factor("users", (1, 5, 10), plot="sub")


def test_treatments_are_the_full_factorial_in_level_order():
    """Every combination once, the last factor changing fastest."""
    design = Design("d", (FORMAT, USERS), replicates=1, seed=1)
    expected = [(f, u) for f in ("json", "atom") for u in (1, 5, 10)]
    assert [(t["format"], t["users"]) for t in design.treatments()] == expected


def test_left_out_treatments_do_not_occur():
    """A partial treatment removes every treatment that holds it."""
    design = Design("d", (FORMAT, USERS), 1, 1, without=({"format": "atom", "users": 1},))
    assert len(design.treatments()) == 5


def test_a_block_holds_each_treatment_once_and_plots_share_whole_levels():
    """Whole-plot factors are constant within one start; each block is complete."""
    design = Design("d", (FORMAT, USERS), replicates=3, seed=4)
    blocks = list(design.blocks())
    assert [replicate for replicate, _ in blocks] == [0, 1, 2]
    for _, plots in blocks:
        assert all(len({t["format"] for t in plot}) == 1 for plot in plots)
        run = sorted((t["format"], t["users"]) for plot in plots for t in plot)
        assert run == sorted((t["format"], t["users"]) for t in design.treatments())


def test_the_order_depends_on_the_seed_alone():
    """The same seed gives the same order, another seed another one."""
    designs = [Design("d", (FORMAT, USERS), 4, seed) for seed in (1, 1, 2)]
    orders = [[[dict(t) for p in plots for t in p] for _, plots in d.blocks()] for d in designs]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


@pytest.mark.parametrize("levels", [(), ("a", "a")])
def test_levels_must_exist_and_differ(levels):
    """A factor without levels, or with one twice, is a mistake."""
    with pytest.raises(ValueError, match="level"):
        Factor("x", levels)


def test_replicates_and_names_are_checked():
    """No replicates, or two factors of one name, are mistakes."""
    with pytest.raises(ValueError, match="at least 1"):
        Design("d", (FORMAT,), 0, 1)
    with pytest.raises(ValueError, match="twice"):
        Design("d", (FORMAT, FORMAT), 1, 1)
