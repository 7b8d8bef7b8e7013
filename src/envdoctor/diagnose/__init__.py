"""Rules over requirements, resolutions, environments, hosts and sources."""

import sys

from envdoctor import Verb

sys.modules[__name__].__class__ = Verb
