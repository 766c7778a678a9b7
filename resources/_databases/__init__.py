"""What resources share that are database servers in containers: clients, loading, answers."""
