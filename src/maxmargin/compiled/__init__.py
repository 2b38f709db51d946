"""Functions compiled to machine code; importing one of these modules imports numba."""
