"""Networks to compile: builders with seeded weights, and trained models fetched from PyPI."""
