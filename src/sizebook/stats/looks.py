"""Verdicts that may be read after each block: one budget of error for all looks.

Blocks are added until a claim is decided. Looking after each of them at the ordinary level gives a
wrong verdict not in 2.5 % of the cases but in 5 % by the fifth block and 28 % by the thousandth
(Armitage, McPherson, Rowe, Journal of the Royal Statistical Society A 132, 1969). So a look after n
blocks counts only at a level ``stricter_by(n)`` times as strict: the error is spent over the looks
(Lan and DeMets, Biometrika 70, 1983), early ones get most of it, since with few degrees of freedom
a strict level is wide. It does not depend on how many looks there were, or will be: who stops early
and who goes on are both right, and a p value times it may be read at any time.

The power and the factor were chosen so that Student's t on equal treatments is wrong in at most
2.5 % over all looks from 3 blocks to 1,000. Share of designs with a wrong verdict at any look so
far, in percent of 100,000 seeded simulations (``tests/stats/test_looks.py`` repeats a part):

=================================  =====  =====  =====  =====
looks after each block, 3 to           5     10    100   1000
=================================  =====  =====  =====  =====
paired                               1.7    2.1    2.4    2.4
unpaired (Welch)                     1.1    1.5    1.8    1.9
unpaired, one side twice as wide     1.5    2.0    2.3    2.3
paired, long tails (t with 5)        1.4    1.7    1.9    1.9
paired, at the ordinary level        5.0    8.4   18.5   27.7
=================================  =====  =====  =====  =====
"""

from __future__ import annotations

import math

_FACTOR = 0.45


def stricter_by(n: int) -> float:
    """Return by what a p value read after ``n`` blocks is multiplied, at least 1.

    2.3 after 3 blocks, 5.0 after 5, 14 after 10.
    """
    return max(1.0, _FACTOR * n * math.sqrt(n))


def level_after(n: int, level: float = 0.95) -> float:
    """Return the level of the interval whose ends decide after ``n`` blocks."""
    return 1 - (1 - level) / stricter_by(n)
