"""Rules over requirements, resolutions, environments, hosts and sources."""
