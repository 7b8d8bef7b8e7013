"""Running kernels in a child process."""
