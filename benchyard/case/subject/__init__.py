"""What a case would measure now: its code, its inputs, and the versions that it stands on."""
