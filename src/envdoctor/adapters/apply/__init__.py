"""Treatment: patches, installers, the journal and what takes it all back."""
