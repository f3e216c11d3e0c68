"""The sentence that says how treatments were measured beside each other."""

from synthetic_bundles import write_synthetic

from sizebook.lab import Trials
from sizebook.lab.trials import Trial
from sizebook.model.design import Design, Factor
from sizebook.model.load import Turns
from sizebook.report.compared_by import compared_by

DESIGN = Design("e", (Factor("side", ("a", "b")),), 1, 1)


def trials_of(make_bundle, tmp_path, **phases):
    """Return two SYNTHETIC trials of so long phases; the second measures twice as long."""
    spec = make_bundle().record.trial
    made = []
    for number, side in enumerate(("a", "b"), 1):
        changed = {name: each * number if name == "measured_s" else each
                   for name, each in phases.items()}  # fmt: skip
        own = spec.load.phases.model_copy(update=changed)
        load = spec.load.model_copy(update={"phases": own})
        named = {"experiment": "e", "treatment": {"side": side}, "load": load}
        made.append(Trial(write_synthetic(tmp_path, side, spec=spec.model_copy(update=named))))
    return Trials(DESIGN, made)


def test_one_after_the_other(make_bundle, tmp_path):
    """With the lengths of their measured phases."""
    said = compared_by(trials_of(make_bundle, tmp_path, measured_s=2.0))
    assert said == "Treatments were measured one after the other, each for 2 to 4 s."


def test_in_turns(make_bundle, tmp_path):
    """With the length of a turn and what counts of it."""
    turns = Turns(turn_s=2.0, settle_s=0.5)
    phases = {"ramp_s": 0.0, "warmup_s": 2.0, "measured_s": 6.0, "turns": turns}
    said = compared_by(trials_of(make_bundle, tmp_path, **phases))
    assert "every 2 s" in said
    assert said.endswith("1.5 s of each turn count, 6 to 12 s a treatment.")


def test_without_trials(make_bundle, tmp_path):
    """There is nothing to say."""
    assert compared_by(Trials(DESIGN, ())) == ""
