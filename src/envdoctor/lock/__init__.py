"""Locks (PEP 751) and the constraints and overrides files beside them: a resolution written down, and read back."""

import sys

from envdoctor import Verb

sys.modules[__name__].__class__ = Verb
