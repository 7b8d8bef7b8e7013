"""One rule, one file, one code."""
