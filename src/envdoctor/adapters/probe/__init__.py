"""Reading hosts, interpreters, environments and binaries; nothing of a patient is run in this process."""
