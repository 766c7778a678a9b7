"""What all rooms use: values, errors, files, clocks, words. It knows nothing of cases."""
