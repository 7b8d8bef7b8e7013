"""The command line: one module per verb, imported when it is asked for."""
