"""Large margins and perceptrons in a kernel's space."""
