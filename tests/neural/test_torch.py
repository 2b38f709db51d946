"""Layers for PyTorch: their gradients, their agreement with other software, and the conventions of PyTorch."""

import copy
import warnings
from itertools import pairwise

import numpy as np
import pytest
from enumerated_spaces import SEARCHED_ONLY, SPACES

torch = pytest.importorskip("torch", reason="layers for PyTorch need torch (the extra `torch`)")

import maxmargin as mm  # noqa: E402
from maxmargin import neural, tasks  # noqa: E402
from maxmargin.neural.score_trees import leaves, mapped  # noqa: E402
from maxmargin.torch import ChainHead, StructuredLoss  # noqa: E402

OBJECTIVES = [
    neural.Hinge(),
    neural.Hinge("slack"),
    neural.SoftmaxMargin(2.0),
    neural.Likelihood(),
    neural.Perturbed(0.5, 3),
    neural.SPOPlus(),
]
REDUCTIONS = ["mean", "sum", "none"]


def tensors(scores, dtype=torch.float64):
    return mapped(lambda each: torch.tensor(each, dtype=dtype, requires_grad=True), scores)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@pytest.mark.parametrize("name", SPACES)
def test_gradients_of_every_structure(name, objective):
    if name in SEARCHED_ONLY and isinstance(objective, neural.SoftmaxMargin | neural.Likelihood):
        pytest.skip("these structures do not sum over outputs")
    listed = SPACES[name](np.random.default_rng(11))
    given = tensors(listed.scores)
    filled = [each for each in leaves(given) if each.numel()]  # segments without features have an empty array

    def loss(*each):
        numbers = iter(each)
        form = mapped(lambda own: next(numbers) if own.numel() else own, given)
        return StructuredLoss(objective)(listed.space, form)

    assert torch.autograd.gradcheck(loss, tuple(filled), atol=1e-4)
    expected = neural.loss(listed.space, listed.scores, objective)
    value = loss(*filled)
    assert value.item() == pytest.approx(expected.values.sum())
    value.backward()
    for one, other in zip(leaves(given), leaves(expected.gradient), strict=True):
        np.testing.assert_allclose(one.grad.numpy(), other, atol=1e-9)


def batch(seed=0, B=4, T=6, K=3, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(B, T, K, generator=generator, dtype=dtype, requires_grad=True)
    labels = torch.randint(0, K, (B, T), generator=generator)
    lengths = torch.tensor([T, 1, 0, 3])
    return scores, labels, torch.arange(T) < lengths[:, None]


def random_head(K=3, dtype=torch.float64, **options):
    head = ChainHead(K, **options).to(dtype)
    for own in head.parameters():
        torch.nn.init.normal_(own, generator=torch.Generator().manual_seed(1))
    return head


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_gradients_of_the_chain_head(objective, reduction):
    scores, labels, mask = batch()
    head = random_head(objective=objective, reduction=reduction)
    own = tuple(each.detach().clone().requires_grad_() for each in head.parameters())

    def loss(scores, *links):
        named = dict(zip([name for name, _ in head.named_parameters()], links, strict=True))
        return torch.func.functional_call(head, named, (scores, labels, mask))

    assert torch.autograd.gradcheck(loss, (scores, *own), atol=1e-4)


@pytest.mark.parametrize("objective", ["hinge", "likelihood"])
def test_reductions(objective):
    scores, labels, mask = batch()
    heads = (random_head(objective=objective, reduction=reduction) for reduction in ("none", "sum", "mean"))
    each, total, mean = (head(scores, labels, mask) for head in heads)
    assert each.shape == (4,)
    assert each[2] == 0  # an empty sequence
    assert total.item() == pytest.approx(each.sum().item())
    assert mean.item() == pytest.approx(each.mean().item())


@pytest.mark.parametrize("B", [1, 5])
def test_likelihood_and_decoding_are_those_of_pytorch_crf(B):
    CRF = pytest.importorskip("torchcrf", reason="the comparison needs pytorch-crf").CRF
    K, T = 5, 9
    torch.manual_seed(B)
    crf, head = CRF(K, batch_first=True).double(), ChainHead(K, objective="likelihood", reduction="sum").double()
    with torch.no_grad():
        head.transitions.copy_(crf.transitions)
        head.start.copy_(crf.start_transitions)
        head.end.copy_(crf.end_transitions)
    scores = torch.randn(B, T, K, dtype=torch.float64, requires_grad=True)
    labels, mask = torch.randint(0, K, (B, T)), torch.arange(T) < torch.randint(1, T + 1, (B, 1))
    ours, theirs = head(scores, labels, mask), -crf(scores, labels, mask=mask, reduction="sum")
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-12)
    own = torch.autograd.grad(ours, (scores, head.transitions, head.start, head.end))
    its = torch.autograd.grad(theirs, (scores, crf.transitions, crf.start_transitions, crf.end_transitions))
    for one, other in zip(own, its, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-6)
    found = head.decode(scores, mask)
    assert [own[known].tolist() for own, known in zip(found, mask, strict=True)] == crf.decode(scores, mask=mask)


@pytest.mark.filterwarnings("ignore:.*arg_constraints")  # of distributions in torch-struct
def test_likelihood_and_marginals_are_those_of_torch_struct():
    struct = pytest.importorskip("torch_struct", reason="the comparison needs torch-struct")
    torch.manual_seed(0)
    B, T, K = 3, 5, 4
    steps = torch.randn(B, T - 1, K, K, dtype=torch.float64)  # [b, t, to, from] there
    chain = struct.LinearChainCRF(steps, lengths=torch.tensor([5, 3, 4]))
    own = np.zeros((B, T, K, K))
    own[:, 1:] = steps.transpose(2, 3).numpy()
    space = tasks.PaddedChains.of_lengths([5, 3, 4], T, K)
    scores = tasks.ChainScores(np.zeros((B, T, K)), own, np.zeros(K), np.zeros(K))
    soft = space.soft_best(scores)
    np.testing.assert_allclose(soft.values, chain.partition.detach().numpy(), atol=1e-6)
    expected = chain.marginals.detach().transpose(2, 3).numpy()
    np.testing.assert_allclose(soft.indicator.transitions[:, 1:], expected, atol=1e-6)
    np.testing.assert_allclose(
        space.best(scores).values, chain.log_prob(chain.argmax).detach().numpy() + soft.values, atol=1e-6
    )


@pytest.mark.filterwarnings("ignore:.*arg_constraints")
def test_arcs_are_those_of_torch_struct():
    struct = pytest.importorskip("torch_struct", reason="the comparison needs torch-struct")
    torch.manual_seed(0)
    n = 4
    arcs = torch.randn(1, n, n, dtype=torch.float64)  # [head, word] there, the root on the diagonal
    tree = struct.NonProjectiveDependencyCRF(arcs)
    table = np.zeros((n + 1, n, 1))
    table[0, :, 0] = np.diagonal(arcs[0])
    table[1:, :, 0] = arcs[0]
    space = tasks.ArcSpace.of_lengths([n])
    its = tree.partition.detach().numpy()  # it adds 1e-5 to the diagonal of a matrix
    np.testing.assert_allclose(space.soft_best(table.ravel()).values, its, atol=1e-4)


def test_ignored_labels_and_masks_leave_positions_out():
    """The heads of words that were cut into pieces form the chain, whatever the scores of the pieces are."""
    scores, labels, _ = batch()
    head, heads = random_head(), torch.tensor([[True, False, True, True, False, True]]).expand(4, 6)
    marked = torch.where(heads, labels, -100)
    alone = scores[heads].view(4, 4, 3), labels[heads].view(4, 4)
    for found in (head(scores, marked), head(scores, labels, heads), head(scores, marked, heads)):
        assert found.item() == pytest.approx(head(*alone).item())
    decoded = head.decode(scores, heads)
    assert (decoded[~heads] == -100).all()
    assert torch.equal(decoded[heads].view(4, 4), head.decode(alone[0]))
    (gradient,) = torch.autograd.grad(head(scores, marked), scores)
    assert not gradient[~heads].any()


def test_forbidden_neighbours_never_occur():
    names = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    head, generator = ChainHead(names, forbidden="BIO"), torch.Generator().manual_seed(0)
    scores = 3 * torch.randn(20, 7, 5, generator=generator)
    for labels in head.decode(scores).tolist():
        for before, after in zip([0, *labels], labels, strict=False):
            assert after not in (2, 4) or before in (after, after - 1)
    loss = ChainHead(names, forbidden="BIO", objective="likelihood")(scores, torch.ones(20, 7, dtype=torch.long))
    loss.backward()
    with pytest.raises(ValueError, match="sequence 0: its loss is inf; expected finite scores of its true labels"):
        head(scores[:1], torch.full((1, 7), 2))
    with pytest.raises(ValueError, match="forbidden='BIO' needs the names of the labels, but labels is 3"):
        ChainHead(3, forbidden="BIO")


def test_costs_are_those_of_the_linear_model():
    costs = [[0.0, 3.0], [1.0, 0.0]]
    head = ChainHead(["a", "b"], costs=costs, reduction="sum").double()
    value = head(torch.zeros(1, 2, 2, dtype=torch.float64), torch.tensor([[0, 1]]))
    assert value.item() == 4.0  # 3 for b where a is right, 1 for a where b is right


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_types_of_numbers(dtype):
    scores, labels, mask = batch(dtype=dtype)
    head = random_head(dtype=dtype, objective="likelihood")
    value = head(scores, labels, mask)
    value.backward()
    assert scores.grad.dtype == head.transitions.grad.dtype == dtype
    assert value.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert head.marginals(scores, mask).dtype == dtype
    exact = copy.deepcopy(head).double()(scores.double(), labels, mask)
    assert value.item() == pytest.approx(exact.item(), rel=1e-6)


def test_a_second_derivative_is_refused():
    scores, labels, mask = batch()
    head = random_head(objective="likelihood")
    (gradient,) = torch.autograd.grad(head(scores, labels, mask), scores, create_graph=True)
    with pytest.raises(RuntimeError, match="have first derivatives only: they cannot be differentiated twice"):
        gradient.sum().backward()


def test_the_state_of_a_head(tmp_path):
    head, other = random_head(), ChainHead(3).double()
    assert set(head.state_dict()) == {"transitions", "start", "end"}
    torch.save(head.state_dict(), tmp_path / "head.pt")
    other.load_state_dict(torch.load(tmp_path / "head.pt"))
    scores, labels, mask = batch()
    assert torch.equal(head(scores, labels, mask), other(scores, labels, mask))
    assert torch.equal(copy.deepcopy(head).decode(scores), head.decode(scores))


def test_results_do_not_depend_on_threads():
    scores, labels, mask = batch()
    found = []
    for n_jobs in (1, 2, 5):
        head = random_head(objective="likelihood", n_jobs=n_jobs)
        value = head(scores, labels, mask)
        found.append((value, *torch.autograd.grad(value, (scores, head.transitions))))
    assert all(torch.equal(one, other) for each in found[1:] for one, other in zip(found[0], each, strict=True))


def test_probabilities_lists_and_samples():
    scores, _, mask = batch()
    head = random_head()
    p = head.marginals(scores, mask)
    torch.testing.assert_close(p.sum(dim=2), mask.double())
    sums = head.sums(scores, mask)
    assert len(sums.entropies) == 4
    assert [len(each[0]) for each in sums.sample(np.random.default_rng(0), 1)] == [6, 1, 0, 3]
    listed = head.n_best(scores, 2, mask)
    assert listed[0][0][0].tolist() == head.decode(scores, mask)[0].tolist()


def test_copies_from_other_devices_are_announced_once(monkeypatch):
    from maxmargin.torch import structured_loss

    class Elsewhere:
        """As much of a tensor on another device as is read."""

        dtype, device = torch.float32, torch.device("cuda")

        def detach(self):
            return torch.zeros(2)

    monkeypatch.setattr(structured_loss, "_copied", set())
    with pytest.warns(UserWarning, match="computes on the CPU: scores are copied from cuda, and gradients back"):
        structured_loss.as_array(Elsewhere())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert structured_loss.as_array(Elsewhere()).tolist() == [0.0, 0.0]


def test_unknown_reductions_are_refused():
    with pytest.raises(ValueError, match="reduction is 'max'; expected 'mean', 'sum' or 'none'"):
        StructuredLoss(reduction="max")


# --- one model in two worlds


def labelled(seed=0, n=12):
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((int(rng.integers(1, 6)), 4)) for _ in range(n)]
    return X, [["a" if row[0] > 0 else "b" if row[1] > 0 else "c" for row in x] for x in X]


def test_the_weights_of_a_linear_model_give_the_same_outputs_in_a_head_and_back():
    X, Y = labelled()
    kept = [i for i, y in enumerate(Y) if ("a", "c") not in pairwise(y)]
    model = mm.SequenceLabeler(C=10.0, forbidden=[("a", "c")]).fit([X[i] for i in kept], [Y[i] for i in kept])
    head = ChainHead(model.classes_, forbidden=[("a", "c")]).double()
    layer = torch.nn.Linear(4, 3, bias=False).double()
    head.load_weights(neural.LabelerWeights.of_labeler(model), layer)
    padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(x) for x in X], batch_first=True)
    mask = torch.arange(padded.shape[1]) < torch.tensor([len(x) for x in X])[:, None]
    found = head.decode(layer(padded), mask)
    named = [[model.classes_[k] for k in own[known]] for own, known in zip(found, mask, strict=True)]
    assert named == model.predict(X)
    back = head.labeler_weights(layer).to_labeler(model)
    np.testing.assert_allclose(back.w_, model.w_, atol=1e-12)
    assert back.w_ is not model.w_
    with pytest.raises(ValueError, match="the layer has a bias"):
        head.labeler_weights(torch.nn.Linear(4, 3))


def test_a_head_that_was_trained_by_steps_has_a_certificate():
    """The bound on the optimum holds for the weights that PyTorch found."""
    X, Y = labelled(1)
    model = mm.SequenceLabeler(C=1.0).fit(X, Y)
    head, layer = ChainHead(model.classes_).double(), torch.nn.Linear(4, 3, bias=False).double()
    padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(x) for x in X], batch_first=True)
    numbers = {label: k for k, label in enumerate(model.classes_)}
    labels = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor([numbers[label] for label in y]) for y in Y], batch_first=True, padding_value=-100
    )
    own = [layer.weight, *head.parameters()]
    torch.nn.init.zeros_(layer.weight)
    optimiser = torch.optim.Adagrad(own, lr=0.2)
    for _ in range(300):
        optimiser.zero_grad()
        objective = head(layer(padded), labels) + 0.5 * sum((each**2).sum() for each in own)
        objective.backward()
        optimiser.step()
    objective = head(layer(padded), labels) + 0.5 * sum((each**2).sum() for each in own)
    certificate = head.labeler_weights(layer).to_labeler(model).certify(X, Y)
    assert certificate.primal == pytest.approx(objective.item(), rel=1e-6)
    assert certificate.primal >= model.certificate_.dual
    assert certificate.primal <= 1.05 * model.certificate_.primal
