"""Random programs, and an oracle of their derivatives that shares no code with the compiler."""
