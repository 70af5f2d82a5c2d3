"""What shares memory, who holds it, and what from outside is written."""
