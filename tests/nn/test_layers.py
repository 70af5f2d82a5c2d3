"""Each layer gives what torch gives, and its gradient is one: on Tensors, compiled, and by differences."""

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn
from tests.nn.models import agrees, demand_gradients, filled, wave

X = wave(4, 3)


def squares(model, x):
    return np.sum(model(x) ** 2)


def of_pair(model, *args):
    first, second = model(*args)
    return np.sum(first**2) + np.sum(second * first[..., :1])


ACTIVATIONS = [
    nn.ReLU(), nn.LeakyReLU(0.1), nn.ELU(), nn.GELU(), nn.GELU("tanh"), nn.SiLU(), nn.Softplus(), nn.Sigmoid(),
    nn.Tanh(), nn.Softmax(), nn.LogSoftmax(0), nn.Identity(), nn.Flatten(), nn.LayerNorm(5), nn.BatchNorm1d(5),
]  # fmt: skip


@pytest.mark.share(1)
@pytest.mark.parametrize("layer", ACTIVATIONS, ids=repr)
def test_gradients_through_a_layer(layer):
    demand_gradients(lambda: nn.Sequential(nn.Linear(3, 5, generator=1), layer), squares, X)


def test_gradients_with_dropout_draw_the_same():
    demand_gradients(lambda: nn.Sequential(nn.Linear(3, 8, generator=1), nn.Dropout(0.5, generator=3)), squares, X)


@pytest.mark.parametrize(
    "make, args",
    [
        (lambda: nn.RNNCell(3, 2, generator=0), (X, wave(4, 2))),
        (lambda: nn.RNNCell(3, 2, nonlinearity="relu", bias=False, generator=0), (X,)),
        (lambda: nn.GRUCell(3, 2, generator=0), (X, wave(4, 2))),
    ],
    ids=["RNN", "RNN relu", "GRU"],
)
def test_gradients_of_cells(make, args):
    demand_gradients(make, lambda model, *args: np.sum(model(*args) ** 2), *args)


def test_gradients_of_a_long_short_term_memory():
    demand_gradients(lambda: nn.LSTMCell(3, 2, generator=0), of_pair, X)
    demand_gradients(lambda: nn.LSTMCell(3, 2, generator=0), of_pair, X, (wave(4, 2), wave(4, 2, start=0.3)))


def test_gradients_of_attention():
    x, mask = wave(3, 2, 4), np.triu(np.ones((3, 3), bool), 1)

    def loss(model, x, mask):
        result, weights = model(x, x, 0.5 * x, attn_mask=mask)
        return np.sum(result**2) + np.sum(weights**2)

    demand_gradients(lambda: nn.MultiheadAttention(4, 2, generator=0), loss, x, mask)


def test_gradients_of_embeddings():
    places = np.array([[1, 0], [3, 1]])
    gradient = demand_gradients(lambda: nn.Embedding(4, 3, generator=0), squares, places)
    assert np.all(gradient.weight[2] == 0.0)
    layer = nn.Embedding(4, 3, padding_idx=-3, generator=0)
    assert np.all(layer(np.array([1])).current == 0.0)
    gradient = tx.grad(lambda m, places: np.sum(m(places)))(layer, places)
    assert np.all(gradient.weight[1] == 0.0) and np.all(gradient.weight[0] == 1.0)


def test_gradients_of_images():
    demand_gradients(lambda: nn.BatchNorm2d(2), lambda m, x: np.sum(np.sin(m(x)) * x), wave(2, 2, 3, 2))


def test_figures_of_torch():
    h, c = wave(4, 2, start=0.3), wave(4, 2, start=0.6)
    agrees("RNNCell", filled(nn.RNNCell(3, 2))(X, h))
    agrees("RNNCell relu", filled(nn.RNNCell(3, 2, nonlinearity="relu"))(X, h))
    agrees("GRUCell", filled(nn.GRUCell(3, 2))(X, h))
    agrees("LSTMCell", *filled(nn.LSTMCell(3, 2))(X, (h, c)))
    agrees("LayerNorm", filled(nn.LayerNorm(3))(X))


def test_attention_as_torch_has_it():
    sequence, attention = wave(5, 2, 4), filled(nn.MultiheadAttention(4, 2))
    agrees("MultiheadAttention", *attention(sequence, sequence, sequence))
    mask = np.triu(np.ones((5, 5), bool), 1)
    padding = np.array([[False] * 5, [False, False, False, True, True]])
    masked = attention(sequence, sequence, sequence, attn_mask=mask, key_padding_mask=padding)
    agrees("MultiheadAttention masked", *masked)
    added = attention(sequence, sequence, sequence, attn_mask=np.where(mask, -np.inf, 0.0), key_padding_mask=padding)
    np.testing.assert_allclose(added[0].current, masked[0].current)
    assert attention(sequence, sequence, sequence, need_weights=False)[1] is None
    with pytest.raises(ValueError, match="heads"):
        nn.MultiheadAttention(5, 2)


def test_running_statistics_as_torch_has_them():
    norm = filled(nn.BatchNorm1d(3))
    first = norm(X)
    norm.eval()
    agrees("BatchNorm1d", first, norm.running_mean, norm.running_var, norm(X))
    assert norm.num_batches_tracked == 1
    norm = filled(nn.BatchNorm2d(2, momentum=None))
    image = wave(2, 2, 3, 2)
    first, _ = norm(image), norm(2.0 * image)
    agrees("BatchNorm2d", first, norm.running_mean, norm.running_var)
    with pytest.raises(ValueError, match=r"expects an input \(batch, channels, height, width\) with 2 channels"):
        norm(X)


def test_a_compiled_derivative_moves_no_statistics():
    norm = nn.BatchNorm1d(3)
    tx.grad(squares)(norm, X)
    assert np.all(norm.running_mean == 0.0) and norm.num_batches_tracked == 0


def test_dropout():
    layer = nn.Dropout(0.25, generator=0)
    found = layer(np.ones(10000))
    assert set(np.unique(found)) == {0.0, 1.0 / 0.75} and abs(np.mean(found) - 1.0) < 0.05
    assert np.all(nn.Dropout(1.0)(X) == 0.0) and nn.Dropout(0.0)(X) is X and layer.eval()(X) is X
    with pytest.raises(ValueError, match="probability"):
        nn.Dropout(1.5)


def test_shapes_and_types():
    assert nn.Flatten(1, 2)(wave(2, 3, 4, 5)).shape == (2, 12, 5)
    x, weights = wave(2, 3, 4, 5), wave(2, 60, start=0.2)
    for first, last, shape in ((0, 1, (6, 4, 5)), (2, -1, (2, 3, 20)), (-3, 3, (2, 60)), (2, 2, x.shape)):
        w = weights.reshape(shape)
        slope = tx.grad(lambda m, x, w: np.sum(m(x) * w), wrt="x", fallback="error")(nn.Flatten(first, last), x, w)
        np.testing.assert_array_equal(slope, w.reshape(x.shape))
    with pytest.raises(ValueError, match="start_dim=2 lies behind end_dim=1"):
        nn.Flatten(2, 1)(x)
    assert nn.Flatten()(wave(2, 3, 4)).shape == (2, 12) and nn.Flatten()(np.zeros((0, 3, 2))).shape == (0, 6)
    layer = nn.Linear(3, 2, bias=False, dtype=np.float32)
    assert layer(X.astype(np.float32)).dtype == np.float32 and layer.bias is None
    assert repr(layer) == "Linear(3, 2, bias=False)  # 6 parameters"
    same = [nn.Linear(3, 2, generator=1).weight.current for _ in range(2)]
    assert np.array_equal(*same)


SINGLE = {
    "Linear": lambda: nn.Linear(4, 2, dtype=np.float32),
    "BatchNorm1d": lambda: nn.BatchNorm1d(4, dtype=np.float32),
    "LayerNorm": lambda: nn.LayerNorm(4, dtype=np.float32),
    "GRUCell": lambda: nn.GRUCell(4, 2, dtype=np.float32),
    "GELU": nn.GELU,
    "Dropout": nn.Dropout,
    "Softmax": nn.Softmax,
}


@pytest.mark.parametrize("name", SINGLE)
def test_float32_stays(name):
    x = wave(3, 4).astype(np.float32)
    assert SINGLE[name]()(x).dtype == np.float32


def test_float32_stays_in_attention_and_losses():
    x = wave(3, 2, 4).astype(np.float32)
    result, weights = nn.MultiheadAttention(4, 2, dtype=np.float32)(x, x, x)
    assert result.dtype == weights.dtype == np.float32
    assert nn.functional.scaled_dot_product_attention(x, x, x).dtype == np.float32
    for options in ({}, {"weight": np.ones(4, np.float32), "label_smoothing": 0.1}):
        assert nn.functional.cross_entropy(x[:, 0], np.array([0, 1, 3]), **options).dtype == np.float32


class Deep(nn.Module):
    def __init__(self):
        self.layers = nn.ModuleList(nn.Linear(3, 3, generator=seed) for seed in range(3))
        self.norms = nn.ModuleList([nn.LayerNorm(3) for _ in range(3)])
        self.ends = {"scale": nn.Parameter(np.ones(3)), "last": nn.Linear(3, 1, generator=9)}

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = x + np.tanh(layer(norm(x)))
        return self.ends["last"](x * self.ends["scale"])


def test_lists_and_dicts_of_modules():
    gradient = demand_gradients(Deep, squares, X)
    names = [name for name, _ in gradient.named_parameters()]
    assert {"layers.2.bias", "norms.0.weight", "ends.scale", "ends.last.weight"} <= set(names) and len(names) == 15
    whole = nn.Sequential(*gradient.layers).append(nn.ReLU())
    assert len(whole) == 4 and type(whole[1:]) is nn.Sequential and len(whole[:2]) == 2 and type(whole[-1]) is nn.ReLU
    assert [type(module) for module in whole] == [nn.Linear] * 3 + [nn.ReLU]


class Opaque(Deep):
    def forward(self, x):
        names = {layer.in_features for layer in self.layers}
        return super().forward(x) * (lambda *sizes: len(sizes))(*names)


def test_what_cannot_be_compiled_runs_on_tensors():
    demand_gradients(Opaque, squares, X, fallback=True)


def test_initial_values():
    layer = nn.Linear(100, 50, generator=0)
    assert np.max(np.abs(layer.weight.current)) <= 0.1 and np.std(layer.weight.current) == pytest.approx(
        0.1 / 3**0.5, rel=0.05
    )
    cell = nn.LSTMCell(3, 16, generator=0)
    assert cell.weight_ih.shape == (64, 3) and np.max(np.abs(cell.bias_hh.current)) <= 0.25


def test_options_of_attention():
    sequence, mask = wave(5, 2, 4), np.triu(np.ones((5, 5), bool), 1)
    wide = nn.MultiheadAttention(4, 2, kdim=3, vdim=2, add_bias_kv=True, add_zero_attn=True, batch_first=True)
    keys = wave(5, 3, 3, start=0.2), wave(5, 3, 2, start=0.4)
    hidden = np.broadcast_to(np.triu(np.ones((2, 3), bool), 1), (10, 2, 3))
    result = filled(wide)(sequence, *keys, attn_mask=hidden, average_attn_weights=False)
    agrees("MultiheadAttention wide", *result)
    assert "kdim=3, vdim=2, add_bias_kv=True, add_zero_attn=True, batch_first=True" in repr(wide)
    alone = filled(nn.MultiheadAttention(4, 2))
    agrees("MultiheadAttention alone", *alone(*sequence[:3], attn_mask=mask[:2, :2]))
    with pytest.raises(ValueError, match="needs the mask itself"):
        alone(*sequence[:3], is_causal=True)

    def loss(model, x, k, v):
        return np.sum(model(x, k, v, attn_mask=hidden)[0] ** 2)

    demand_gradients(
        lambda: filled(nn.MultiheadAttention(4, 2, 0.0, False, True, True, 3, 2, True)), loss, sequence, *keys
    )


def test_attention_of_plain_arrays():
    heads = wave(2, 4, 3, 2), wave(2, 2, 3, 2, start=0.1), wave(2, 2, 3, 2, start=0.2)
    attention = nn.functional.scaled_dot_product_attention
    agrees("attention causal", attention(*heads, is_causal=True, scale=0.3, enable_gqa=True))
    nothing = np.array([[True, False, True], [False, False, False], [True, True, True]])
    agrees("attention to nothing", attention(heads[1], heads[1], heads[2], nothing))
    slope = tx.grad(lambda q: np.sum(attention(q, heads[1], heads[2], nothing) ** 2))(heads[1])
    assert np.all(slope[:, :, 1] == 0.0) and np.all(slope[:, :, 0] != 0.0)
    with pytest.raises(ValueError, match="not both"):
        attention(*heads, nothing, is_causal=True)
    dropped = attention(*heads, dropout_p=0.5, generator=np.random.default_rng(0), enable_gqa=True)
    assert np.any(dropped != attention(*heads, enable_gqa=True))


def test_what_is_not_built_is_refused():
    for make, what in (
        (lambda: nn.Embedding(3, 2, max_norm=1.0), "max_norm=1.0 is not built"),
        (lambda: nn.Embedding(3, 2, scale_grad_by_freq=True), "scale_grad_by_freq=True is not built"),
        (lambda: nn.LSTM(3, 4, proj_size=2), "proj_size=2 is not built"),
        (lambda: nn.MaxPool2d(2, return_indices=True), "return_indices=True is not built"),
        (lambda: nn.Conv2d(1, 1, 3, padding_mode="mirror"), "padding_mode='mirror' is none of zeros, reflect"),
    ):
        with pytest.raises(ValueError, match=what):
            make()
    assert repr(nn.RNN(3, 4, 1, "relu").cells[0]) == repr(nn.RNNCell(3, 4, nonlinearity="relu"))
    assert nn.BatchNorm1d(2, bias=False).bias is None


def layer_by_layer(model, x):
    for i in range(len(model)):
        x = model[i](x)
    penalty = np.sum(model[0].weight ** 2) + np.sum(np.abs(model[2].weight)) + np.sum(model[-1].weight ** 2)
    return np.sum(x**2) + 0.1 * penalty


def test_layers_by_number_are_compiled():
    def make():
        sizes = [(3, 4), (4, 3)]
        first, second = (nn.Linear(*size, generator=k) for k, size in enumerate(sizes))
        return nn.Sequential(first, nn.Tanh(), second)

    demand_gradients(make, layer_by_layer, np.sin(np.arange(6.0)).reshape(2, 3))
