"""Descriptions of the parameters that counting-based estimators share: docstrings quote them (shared_options.py)."""

from __future__ import annotations

COUNTING = {
    "kernel": """
        kernel : str or callable
        "linear", "poly", "rbf" and the other kernels of scikit-learn, a function of two rows, or "precomputed".
        """,
    "alpha": """
        alpha : "loo", float or None
        The regularisation λ. "loo" chooses it from a grid, by the fewest outputs that score above the correct one (for
        similarities, by the smallest squared errors) on examples that the model was not trained on: leave-one-out in
        closed form, on at most 400 training examples, if the closed form (see solver) applies and examples have one
        correct output each; otherwise cross-validation. None is the value of the paper, the mean number of correct
        outputs per example.
        """,
    "fit_intercept": """
        fit_intercept : bool
        Whether to add a constant to the kernel.
        """,
    "gamma": """
        gamma : float or None
        The parameter of this name of kernels that have it; None is the default of scikit-learn.
        """,
    "degree": """
        degree : float
        The degree of the polynomial kernel.
        """,
    "coef0": """
        coef0 : float
        The constant of the polynomial and of the sigmoid kernel.
        """,
    "kernel_params": """
        kernel_params : dict or None
        Further arguments of a kernel function.
        """,
    "target": """
        target : "margin" or "similarity"
        The target of scores: margins of 1, or the similarity of every output with the correct one, i.e.
        ½ E_z[(⟨φ(yᵢ) - μ, φ(z) - μ⟩ - ⟨f(xᵢ), φ(z) - μ⟩)²], which is better if labels are noisy.
        """,
    "solver": """
        solver : "auto", "closed" or "cg"
        The closed form (for sets whose covariance has few eigenvalues; cubic in the number of examples) or conjugate
        gradients; "auto" uses the closed form if it applies, for at most 3,000 examples, and at most 500 for the linear
        kernel with fewer features than examples.
        """,
    "tol": """
        tol : float
        Relative residual at which conjugate gradients stop.
        """,
    "max_iter": """
        max_iter : int
        The most iterations of conjugate gradients.
        """,
    "verbose": """
        verbose : bool or int
        Show progress of training, and of `decode`, whose search may be hard, on standard error; see StructuredSVM.
        """,
    "checkpoint": """
        checkpoint : str, path or None
        A file from which an interrupted training run resumes; see StructuredSVM.
        """,
    "checkpoint_every": """
        checkpoint_every : float or str
        Seconds between two checkpoints, or iterations of conjugate gradients as in "10 passes".
        """,
}
