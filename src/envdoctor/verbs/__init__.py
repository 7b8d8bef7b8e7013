"""One function per verb: ports in, report out."""
