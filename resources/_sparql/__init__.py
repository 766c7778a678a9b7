"""What the resources around SPARQL share: finding an endpoint, loading a store, asking it."""
