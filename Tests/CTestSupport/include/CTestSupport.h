// Declares nothing: see parallelization.c.
