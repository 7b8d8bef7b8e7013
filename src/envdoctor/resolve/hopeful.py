"""An index that takes metadata which did not come as asking for nothing: what is impossible even so is impossible.

A version whose metadata is not in the cache, or whose file did not come, cannot be chosen. A conflict that is found
without it may be no conflict. What only a build would tell stays unread: asking again would not bring it.
"""

from __future__ import annotations

from collections.abc import Iterable

from packaging.utils import NormalizedName

from envdoctor.model.candidate import CoreMetadata, DistributionFile, ProjectPage, Rejection, RejectionKind
from envdoctor.ports import ONLY_ITS_BUILD, Index, IndexUnavailable, MetadataUnavailable

__all__ = ["HopefulIndex", "may_be_read"]


def may_be_read(rejection: Rejection) -> bool:
    """Return whether asking again, with a network, may bring what could not be read."""
    return not rejection.detail.endswith(ONLY_ITS_BUILD)


class HopefulIndex:
    """Another index, whose unread metadata ask for nothing."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.hoped: dict[str, Rejection] = {}
        """What was taken so, by file name, with the reason why it could not be read."""

    def page(self, name: NormalizedName) -> ProjectPage:
        """Return the project's files. Raises ProjectNotFound or IndexUnavailable."""
        return self._index.page(name)

    def prefetch_pages(self, names: Iterable[NormalizedName]) -> None:
        """Start fetching pages."""
        self._index.prefetch_pages(names)

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        """Start fetching metadata."""
        self._index.prefetch_metadata(files)

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        """Return core metadata, empty where they did not come. Raises MetadataUnavailable where only a build tells."""
        try:
            return self._index.metadata(file)
        except (MetadataUnavailable, IndexUnavailable) as error:
            rejection = Rejection(RejectionKind.NO_METADATA, file.project, file.version, None, str(error))
            if not may_be_read(rejection):
                raise
            self.hoped[file.filename] = rejection
            return CoreMetadata(file.project, file.version)
