"""The base of databases of SQL: commands, and for servers clients, loading, answers."""
