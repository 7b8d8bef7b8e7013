"""The kernels, one module a family. Importing a module registers what it holds."""
