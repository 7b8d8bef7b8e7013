"""Small models with random weights, built as the real ones are. Importing a module registers what it holds."""
