"""What others do, behind the same interface as our engines: Wachter, FACE, PEAR, and DiCE through its own package."""

from reap.baselines._pear_cost import DAGS
from reap.baselines.dice import DiCE
from reap.baselines.face import FACE
from reap.baselines.pear import PEAR
from reap.baselines.wachter import Wachter

__all__ = ["DAGS", "FACE", "PEAR", "DiCE", "Wachter"]
