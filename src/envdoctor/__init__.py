"""Environment doctor and dependency resolver for projects whose GPU is not the one their authors had."""

__version__ = "0.1.0"
