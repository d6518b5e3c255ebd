"""What past sessions teach about people who have not been asked yet: empirical Bayes over their answers.

`A = RᵀBR` for everybody, B from the mixture "people": what people share is R (``coordinates``), and how common each family and
kind of answering is (``shares``). The steps, one a file: answers as arrays (``past``), how likely each is and by how much that
changes with effort (``slopes``), everybody alike as a start (``pooled``), the marginal likelihood on fixed matrices
(``marginal``), how much to believe of it (``shrinkage``), all together (``fitting``), and whether it predicts people who were
held out (``gate``).
"""

from __future__ import annotations

from reap.belief.learning.fitting import Fit, fit
from reap.belief.learning.gate import Held, Verdict, gains, held_out, judge
from reap.belief.learning.past import Comparison, Past

__all__ = ["Comparison", "Fit", "Held", "Past", "Verdict", "fit", "gains", "held_out", "judge"]
