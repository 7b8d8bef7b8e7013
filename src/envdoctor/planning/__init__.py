"""What ``fix`` will do, as a value."""
