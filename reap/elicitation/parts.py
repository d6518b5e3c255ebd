"""Parts of plans: one or two of the changes of a plan, everything else as it is now.

Whole plans often differ in too much to be compared, or in a row by less than one can feel. Their parts do not: "a smaller
loan, or longer in the job?" is answered by everybody, and tells which plans are easier.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from reap import effort
from reap._arrays import row_keys
from reap._typing import Array, Bools
from reap.elicitation.comparisons import Comparisons
from reap.elicitation.minds import beside, extended
from reap.elicitation.verdicts import noticed
from reap.plan import Plan
from reap.space import ActionSpace, Limits

#: Changes in a part at most, and the largest number of parts.
CHANGES, PARTS = 2, 80


class Parts:
    """What can be asked about beside whole plans, and is never recommended: one may not be enough by itself.

    A plan of one or two changes is a part too, but no question shows it beside one: it leads to a yes, the other may not.

    Parameters
    ----------
    space : ActionSpace
    limits : Limits
        What the person cannot or will not do: a part must be legal by itself.
    plans : sequence of Plan
        Whose parts they are.
    sizes : (e,) array, optional
        As in ``Pool``.

    Attributes
    ----------
    plans : list of Plan, whose scores are not known (NaN).
    moves : list of arrays (1, d), what effort is counted of.
    """

    def __init__(
        self, space: ActionSpace, limits: Limits, plans: Sequence[Plan], sizes: Array | None = None
    ) -> None:
        self._space = space.tighten(limits)
        self._start = plans[0].path[0]
        targets = [plan.path[-1] for plan in plans if not plan.along]
        ends = self._ends(targets)
        self._whole = np.isin(row_keys(ends), row_keys(np.array(targets))) if len(ends) else np.zeros(0, bool)
        unknown = np.full(2, np.nan)
        self.plans = [
            Plan(space, np.stack([self._start, end]), unknown, scale=plans[0].scale) for end in ends
        ]
        moves = list(effort.changes(ends, self._start)[:, None])
        self.moves = moves if sizes is None else extended(moves, beside(space, self.plans, sizes))
        self._compared = Comparisons(space, self._start, ends) if len(ends) else None

    def __len__(self) -> int:
        return len(self.plans)

    def burden(self, most: float, asked: Iterable[Sequence[Array]]) -> Array:
        """Return in how many rows two parts differ, (m, m), infinite where they must not stand together; see ``Comparisons``."""
        if self._compared is None:
            return np.empty((0, 0))
        plan = self._whole[:, None] | self._whole  # plans are compared with plans: both lead to a yes
        return np.where(plan, np.inf, self._compared.burden(most, asked))

    @property
    def apart(self) -> Bools | None:
        """In which features two parts differ, (m, m, f); None where there are none."""
        return None if self._compared is None else self._compared.apart

    def _ends(self, targets: Sequence[Array]) -> Array:
        """Return where the parts lead (m, d): legal, and each different from the others by what one can feel."""
        space, start = self._space, self._start
        actions = [feature.name for feature in space.features if feature.is_action]
        rows = []
        for target in targets:
            moved = effort.changes(target, start) != 0
            changed = [space.slices[name] for name in actions if moved[space.slices[name]].any()]
            for size in range(1, min(CHANGES, len(changed)) + 1):
                for chosen in combinations(changed, size):
                    row = start.copy()
                    for columns in chosen:
                        row[columns] = target[columns]
                    rows.append(row)
        if not rows:
            return np.empty((0, len(start)))
        least, seen = noticed(space, start), set()
        kept = []
        for row in rows:
            felt = np.rint(effort.changes(row, start) / least).tobytes()
            if felt not in seen:
                seen.add(felt)
                kept.append(row)
        ends = space.follow(np.array(kept), start)
        legal = space.allows(np.tile(start, (len(ends), 1)), ends)
        return np.asarray(ends[legal][:PARTS])
