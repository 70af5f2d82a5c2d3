"""What passes know of a program: shapes, memory, liveness, zeros."""
