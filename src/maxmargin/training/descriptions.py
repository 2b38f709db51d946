"""Descriptions of the parameters that many estimators share: docstrings quote them (shared_options.py).

An entry is written as in a docstring: a line with the name and the type, and a paragraph. $units stands for the units
that have features (rows, positions, nodes), and $default_tol for the default gap; each estimator defines both.
"""

from __future__ import annotations

TRAINING = {
    "C": """
        C : float
        Weight of the mean structured hinge against ½‖w‖². inf requests a hard margin.
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
        None: scores are linear in the features of $units. A name ("rbf", "poly", …), an object of maxmargin.kernels or
        a function f(A, B) that returns a matrix of kernel values replaces the inner products of $units. "precomputed"
        means that the features are kernel values, with one column for each of the $units of the training data. Models
        with a kernel have no weights of features; support_ lists the numbers of the $units that they use. "auto" (an
        RBF kernel) or kernels.Auto(kernel) chooses between a kernel and an explicit feature map by the size of the
        data; a kernels.KernelMap is an explicit map. Models with a map have kernel_map_ instead of support_.
        """,
    "solver": """
        solver : str or Solver
        The algorithm that trains: a name in solvers.SOLVERS ("bcfw", "one_slack", …), or a solver object with options.
        """,
    "objective": """
        objective : "hinge", "likelihood" or "softmax_margin"
        The loss that is added to ½‖w‖²: C times the mean structured hinge, C times the negative mean log-likelihood
        (a conditional random field), or C times the softmax-margin, which lies between them.
        """,
    "sharpness": """
        sharpness : float
        For "softmax_margin": larger values are closer to the hinge.
        """,
    "calibrate": """
        calibrate : int or None
        The number of cross-validation folds that determine temperature_, on which probabilities depend. None leaves the
        calibration to calibrate_on(X, Y).
        """,
    "rescaling": """
        rescaling : "margin" or "slack"
        How the loss enters the hinge: it is added to the required margin, or multiplied with the slack.
        """,
    "slack": """
        slack : "l1" or "l2"
        Whether slacks or their squares are summed.
        """,
    "bounds": """
        bounds : None, pair or dict
        Limits of weights: a pair (low, high) for all weights, each a number, an array or None, or a dict of such pairs
        with the names of weights_ as keys: {"transitions": (None, 0), ("features", "bias", None): (0, None)}. Equal
        limits, low = high, fix a weight.
        """,
    "prior": """
        prior : None, number, array or dict
        Weights towards which learning is regularised, instead of 0: ½‖w - prior‖² replaces ½‖w‖². The keys of a dict
        are names of weights, as in `bounds`.
        """,
    "tol": """
        tol : float or None
        The relative duality gap at which training stops; None: $default_tol. It must be positive, because rounding
        keeps the gap from being exactly 0.
        """,
    "max_passes": """
        max_passes : float or None
        Limit on decoder calls divided by the number of examples; None: the default of the solver, inf: no limit.
        """,
    "n_jobs": """
        n_jobs : int or None
        The number of threads for the decoder; -1 means one per core, None means 1. The model does not depend on it.
        """,
    "executor": """
        executor : Executor or None
        The executor that runs the decoder instead of threads, such as executors.Processes(2).
        """,
    "random_state": """
        random_state : int, RandomState or None
        The seed. The same number gives the same model, in every process and on any number of threads; None draws a
        random number.
        """,
    "warm_start": """
        warm_start : bool
        Whether a fit starts from the dual point of the last fit if the problem is the same except for C, tol or
        max_passes. With other data, weights, costs or classes it starts from scratch, because a dual point of one
        problem proves nothing about another.
        """,
    "callback": """
        callback : callable or None
        A function that is called with a solvers.Record after every step; training stops when it returns True.
        """,
    "verbose": """
        verbose : bool or int
        True or 1 shows progress on standard error: pass, objective, bound, gap and remaining time. A terminal or a
        notebook (with ipywidgets) shows one line that is updated; a pipe or a log gets a line after two seconds and
        further lines at increasing intervals. False or 0 shows nothing.
        """,
    "memory_mb": """
        memory_mb : float or None
        Limit, in megabytes, on the memory for arrays that training allocates besides the data and the model, such as
        dual points and cuts; arrays that exceed it are kept in temporary files. A quarter of it is for the plane cache,
        which merges planes when it is full. Packed data (maxmargin.pack) are read from their folder, so that the limit
        holds for any amount of data. None sets no limit.
        """,
    "checkpoint": """
        checkpoint : str, path or None
        A file to which `fit` and `fit_path` write their state from time to time. If it exists and belongs to the same
        data and parameters, they continue from it and end with the same model, to the last bit, as an uninterrupted
        fit. n_jobs, executor, callback, verbose and max_passes may differ from the earlier fit.
        """,
    "checkpoint_every": """
        checkpoint_every : float or str
        The interval at which the checkpoint is written: a number of seconds, or of passes, as in "10 passes". An
        interval in seconds grows if writing would take more than a fiftieth of the time.
        """,
}
