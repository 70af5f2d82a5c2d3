"""The walk that finds the kinds of a program and writes it in closed form."""
