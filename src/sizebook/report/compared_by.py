"""How the treatments of a design were measured beside each other, in a sentence."""

from __future__ import annotations

from sizebook.lab import Trials


def compared_by(trials: Trials) -> str:
    """Return whether treatments took turns or were measured one after the other, and how long.

    Empty where there are no trials.
    """
    loads = [trial.bundle.record.trial.load for trial in trials]
    lengths = sorted({load.phases.measured_s for load in loads})
    if not lengths:
        return ""
    spans = f"{lengths[0]:g} s" if len(lengths) == 1 else f"{lengths[0]:g} to {lengths[-1]:g} s"
    turns = [load.phases.turns for load in loads if load.phases.turns is not None]
    if not turns:
        return f"Treatments were measured one after the other, each for {spans}."
    turn = turns[0]
    return (
        f"In each block the load went to the next treatment every {turn.turn_s:g} s, so that all "
        f"of them met the same course of the machine: {turn.counted_s:g} s of each turn count, "
        f"{spans} a treatment."
    )
