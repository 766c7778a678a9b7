"""How curves are drawn: the recording process, its raw file, and what is made of it."""
