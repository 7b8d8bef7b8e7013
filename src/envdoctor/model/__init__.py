"""The vocabulary: frozen values, one module per noun.

Nothing in this package performs I/O; it may import the standard library and ``packaging`` alone.
"""
