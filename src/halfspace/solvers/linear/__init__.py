"""Large margins in the input space: sweeps, Newton, MinOver, filters."""
