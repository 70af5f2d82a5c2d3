"""From a user's call to the code compiled for it: requests, caches, guards, validation, results."""
