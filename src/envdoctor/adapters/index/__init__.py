"""Package indexes over HTTP and from recordings."""
