"""The only code that touches the world; adapters do not import each other."""
