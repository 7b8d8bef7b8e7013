"""Measures envdoctor beside uv, pip and nab: ``python -m benchmarks``."""
