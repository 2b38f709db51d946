"""Descriptions of the parameters that many estimators share: docstrings quote them (shared_options.py).

An entry is written as in a docstring: a line with the name and the type, and a paragraph. $units stands for what has
features (rows, positions, nodes), $default_tol for the default gap; both are the estimator's own.
"""

from __future__ import annotations

TRAINING = {
    "C": """
        C : float
        Weight of the mean structured hinge against ½‖w‖². inf asks for a hard margin.
        """,
    "classes": """
        classes : sequence or None
        The label set; None takes the labels of the training data.
        """,
    "costs": """
        costs : None, dict or array
        The cost of a mistake: 1 (None), {label: cost of missing it}, or a matrix cost[true, predicted] in the order of
        classes_.
        """,
    "fit_intercept": """
        fit_intercept : bool
        Add a constant feature 1 (regularised like the others, as liblinear does).
        """,
    "kernel": """
        kernel : None, str, callable or Kernel
        None: scores are linear in the features of $units. "rbf", "poly", …, an object of maxmargin.kernels or a
        function f(A, B) that returns a matrix of kernel values replaces the inner products of $units; "precomputed"
        means that the features are such values, a column for each of the $units of the training data. Models then have
        support_, the numbers of those $units that they are made of, instead of weights of features. "auto" (an RBF) or
        kernels.Auto(kernel) chooses by size between this and an explicit map; a kernels.KernelMap is one. Models then
        have kernel_map_ instead of support_.
        """,
    "solver": """
        solver : str or Solver
        The algorithm that trains: a name in solvers.SOLVERS ("bcfw", "one_slack", …), or a solver object with options.
        """,
    "objective": """
        objective : "hinge", "likelihood" or "softmax_margin"
        What is minimised beside ½‖w‖²: C times the mean structured hinge, C times minus the mean log-likelihood (a
        conditional random field), or the softmax-margin between them.
        """,
    "sharpness": """
        sharpness : float
        For "softmax_margin": the larger, the nearer to the hinge.
        """,
    "calibrate": """
        calibrate : int or None
        Find temperature_, which probabilities depend on, by cross-validation with so many folds; None leaves that to
        calibrate_on(X, Y).
        """,
    "rescaling": """
        rescaling : "margin" or "slack"
        How a loss enters the hinge: it is added to the margin that is asked for, or multiplied with the slack.
        """,
    "slack": """
        slack : "l1" or "l2"
        Whether slacks or their squares are summed.
        """,
    "bounds": """
        bounds : None, pair or dict
        Limits of weights: (low, high) for all, each a number, an array or None, or a dict of such pairs by names of
        weights_: {"transitions": (None, 0), ("features", "bias", None): (0, None)}. low = high fixes a weight.
        """,
    "prior": """
        prior : None, number, array or dict
        Weights that learning is drawn to in place of 0: ½‖w - prior‖² is minimised instead of ½‖w‖². A dict names them
        as for bounds.
        """,
    "tol": """
        tol : float or None
        Relative duality gap to stop at; None: $default_tol. It must be positive, because rounding keeps the gap from
        being exactly 0.
        """,
    "max_passes": """
        max_passes : float or None
        Limit on decoder calls divided by the number of examples; None: the default of the solver, inf: no limit.
        """,
    "n_jobs": """
        n_jobs : int or None
        Threads for the decoder; -1 for one per core, None for 1. The model does not depend on it.
        """,
    "executor": """
        executor : Executor or None
        Where the decoder runs instead, such as executors.Processes(2).
        """,
    "random_state": """
        random_state : int, RandomState or None
        The same number gives the same model, in every process and on any number of threads; None draws one.
        """,
    "warm_start": """
        warm_start : bool
        Start from the last fit's dual point when the same problem is fitted again with another C, tol or max_passes.
        Other data, weights, costs or classes start cold: a dual point of one problem proves nothing about another.
        """,
    "callback": """
        callback : callable or None
        Called with a solvers.Record after every step; training stops when it returns True.
        """,
    "verbose": """
        verbose : bool or int
        True or 1 shows progress on standard error: pass, objective, bound, gap and time left. On a terminal and in a
        notebook (with ipywidgets) that is one live line; in a pipe or a log, a plain line after two seconds and then
        ever more rarely. False or 0 is silent.
        """,
    "memory_mb": """
        memory_mb : float or None
        Megabytes of memory for what training makes beside the data and the model, such as dual points and cuts; what
        does not fit is kept in temporary files without names. A plane cache gets a quarter of it, and merges planes
        when it is full. Packed data (maxmargin.pack) are read from their folder, so that this bounds training on any
        amount of them. None sets no limit.
        """,
    "checkpoint": """
        checkpoint : str, path or None
        A file to which `fit` and `fit_path` write their state from time to time. If it exists and belongs to the same
        data and parameters, they go on from it, and end with the same model to the last bit as if nothing had stopped
        them. n_jobs, executor, callback, verbose and max_passes may differ from before.
        """,
    "checkpoint_every": """
        checkpoint_every : float or str
        How often the checkpoint is written: a number of seconds, or passes, as in "10 passes". The interval grows if
        writing would take more than a fiftieth of the time.
        """,
}
