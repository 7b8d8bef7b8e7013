"""Reading a project's files into requirements."""
