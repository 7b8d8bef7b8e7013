"""Known failures as data: what an advisory says, when it holds, and how its files are read."""
