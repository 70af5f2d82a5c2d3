"""What every stage may use: names, sources, structures of leaves, options."""
