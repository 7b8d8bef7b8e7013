from types import ModuleType

from envdoctor.library import Error as Error
from envdoctor.library import Lock as Lock
from envdoctor.library import Report as Report
from envdoctor.library import diagnose as diagnose
from envdoctor.library import inspect_environment as inspect_environment
from envdoctor.library import lock as lock
from envdoctor.library import schema as schema
from envdoctor.library import smoke as smoke

__version__: str

class Verb(ModuleType): ...
