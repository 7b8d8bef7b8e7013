"""Package indexes over HTTP and from recordings.

``open_index(IndexSettings(...), progress)`` is the way in.
"""

from envdoctor.adapters.index.index_settings import ExtraIndex, IndexSettings
from envdoctor.adapters.index.opening import AnyIndex, default_index_url, open_index

__all__ = [
    "AnyIndex",
    "ExtraIndex",
    "IndexSettings",
    "default_index_url",
    "open_index",
]
