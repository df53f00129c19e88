"""The clients of soak.py."""
