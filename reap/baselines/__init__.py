"""What others do, behind the same interface as our engines: Wachter and FACE."""

from reap.baselines.face import FACE
from reap.baselines.wachter import Wachter

__all__ = ["FACE", "Wachter"]
