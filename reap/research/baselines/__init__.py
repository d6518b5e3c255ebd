"""What others do, behind the same interface as our engines: Wachter, FACE, ROAR, PEAR, and DiCE through its own package."""

from reap.research.baselines.dice import DiCE
from reap.research.baselines.face import FACE
from reap.research.baselines.pear import DAGS, PEAR
from reap.research.baselines.roar import ROAR
from reap.research.baselines.wachter import Wachter

__all__ = ["DAGS", "FACE", "PEAR", "ROAR", "DiCE", "Wachter"]
