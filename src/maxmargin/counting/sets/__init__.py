"""Sets of outputs whose moments are known in closed form: one file each."""
