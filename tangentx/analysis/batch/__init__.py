"""Which values differ from member to member of a batch."""
