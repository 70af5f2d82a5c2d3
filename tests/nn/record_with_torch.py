"""Prints tests/nn/figures.json: what torch 2.13.0 gives, in float64. It needs torch, which the tests do not."""

import importlib
import json
import math


def function_cases(torch, wave):
    """Functions, with what they are given."""
    F = torch.nn.functional
    a, b, c, image = wave(4, 3), wave(4, 3, start=0.4), wave(4, 3, start=0.9), wave(2, 4, 3, 5)
    chance = torch.tensor([[0.0, 0.25, 0.75], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    sides, kernel = torch.tensor([1, -1, -1, 1]), wave(4, 3, 3, 2)
    return [
        ("normalize", F.normalize, (a,), {}),
        ("normalize p", F.normalize, (a,), {"p": 3.0, "dim": 0}),
        ("cosine_similarity", F.cosine_similarity, (a, b), {}),
        ("pairwise_distance", F.pairwise_distance, (a, b), {"eps": 1e-3, "keepdim": True}),
        ("triplet_margin_loss", F.triplet_margin_loss, (a, b, c), {}),
        ("triplet_margin_loss swap", F.triplet_margin_loss, (a, b, c), {"swap": True, "margin": 0.3, "p": 1.0}),
        ("cosine_embedding_loss", F.cosine_embedding_loss, (a, b, sides), {"margin": 0.1, "reduction": "none"}),
        ("kl_div log", F.kl_div, (a, b), {"log_target": True, "reduction": "sum"}),
        ("kl_div", lambda x, **options: F.kl_div(x, chance, **options), (a,), {"reduction": "batchmean"}),
        (
            "conv_transpose2d",
            F.conv_transpose2d,
            (image, kernel),
            {"stride": 2, "padding": 1, "output_padding": (1, 0)},
        ),
        ("conv_transpose2d groups", F.conv_transpose2d, (image, kernel), {"groups": 2, "dilation": (1, 2)}),
        ("conv1d", F.conv1d, (wave(2, 4, 5), wave(6, 2, 3)), {"groups": 2, "stride": 2, "padding": 1}),
        ("interpolate nearest", F.interpolate, (image,), {"size": (5, 3)}),
        ("interpolate", F.interpolate, (image,), {"scale_factor": 1.7, "mode": "bilinear"}),
        ("interpolate corners", F.interpolate, (image,), {"size": (7, 4), "mode": "bilinear", "align_corners": True}),
        ("pad", F.pad, (image,), {"pad": (1, 2, 0, 1), "value": 0.5}),
        ("pad reflect", F.pad, (image,), {"pad": (1, 2, 2, 1), "mode": "reflect"}),
    ]


def layer_cases(nn):
    """Layers, with the shapes of what they are given."""
    encoder = {"dim_feedforward": 5, "dropout": 0.0}
    return [
        ("GroupNorm", nn.GroupNorm(2, 4), (3, 4, 2)),
        ("PReLU", nn.PReLU(3), (4, 3, 2)),
        ("Unflatten", nn.Unflatten(1, (2, -1)), (2, 6)),
        ("LogSigmoid", nn.LogSigmoid(), (3, 2)),
        ("Conv1d", nn.Conv1d(3, 2, 3, padding="same", dilation=2), (2, 3, 6)),
        ("ConvTranspose2d", nn.ConvTranspose2d(3, 2, (2, 3), stride=2), (2, 3, 2, 3)),
        ("Upsample", nn.Upsample(scale_factor=2), (1, 2, 2, 3)),
        ("encoder", nn.TransformerEncoderLayer(4, 2, **encoder), (3, 2, 4)),
        (
            "encoders",
            nn.TransformerEncoder(
                nn.TransformerEncoderLayer(4, 2, activation="gelu", norm_first=True, batch_first=True, **encoder),
                2,
                nn.LayerNorm(4),
                enable_nested_tensor=False,
            ),
            (2, 3, 4),
        ),
    ]


def main():
    torch = importlib.import_module("torch")
    torch.set_default_dtype(torch.float64)
    nn, F = torch.nn, torch.nn.functional

    def wave(*shape, start=0.0, dtype=torch.float64):
        count = math.prod(shape)
        return torch.tensor([math.sin(1.0 + 0.7 * k + start) for k in range(count)], dtype=dtype).reshape(shape)

    def filled(module):
        with torch.no_grad():
            for k, p in enumerate(module.parameters()):
                p.copy_(wave(*p.shape, start=float(k)))
        return module

    def flat(*tensors):
        return [v for t in tensors for v in t.detach().flatten().tolist()]

    found = {}
    x, logits, target = wave(4, 3), 3.0 * wave(4, 3), torch.tensor([0, 2, 1, 2])
    weight = torch.tensor([0.5, 1.0, 2.0])
    probabilities = torch.softmax(wave(4, 3, start=2.0), -1)
    for name, options in {
        "plain": {},
        "weight": {"weight": weight},
        "ignored": {"ignore_index": 2},
        "smooth": {"label_smoothing": 0.2},
        "all": {"weight": weight, "ignore_index": 2, "label_smoothing": 0.2},
        "sum": {"weight": weight, "reduction": "sum", "label_smoothing": 0.2},
        "none": {"reduction": "none", "ignore_index": 0, "label_smoothing": 0.1},
    }.items():
        z = logits.clone().requires_grad_()
        loss = F.cross_entropy(z, target, **options)
        loss.sum().backward()
        found[f"cross_entropy {name}"] = flat(loss, z.grad)
    for name, options in {"plain": {}, "all": {"weight": weight, "label_smoothing": 0.2}}.items():
        found[f"probabilities {name}"] = flat(F.cross_entropy(logits, probabilities, **options))
    images, labels = wave(2, 3, 2), torch.tensor([[0, 2], [1, 1]])
    found["places"] = flat(F.cross_entropy(images, labels, weight=weight))
    found["nll"] = flat(F.nll_loss(F.log_softmax(logits, 1), target, weight=weight))
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        found[name] = flat(getattr(F, name)(2.0 * logits, x), getattr(F, name)(logits, x, reduction="none"))
    found["smooth_l1 beta"] = flat(F.smooth_l1_loss(logits, x, beta=0.3))
    found["bce logits"] = flat(F.binary_cross_entropy_with_logits(30.0 * x, probabilities, pos_weight=weight))
    found["bce"] = flat(
        F.binary_cross_entropy(probabilities.clone().fill_(1.0).mul(torch.tensor([0.0, 1.0, 0.3])), probabilities)
    )
    for name in ("relu", "gelu", "elu", "softplus", "silu", "leaky_relu", "sigmoid", "logsigmoid"):
        z = (4.0 * wave(9)).requires_grad_()
        y = getattr(F, name)(z)
        y.sum().backward()
        found[name] = flat(y, z.grad)
    found["softplus threshold"] = flat(F.softplus(4.0 * wave(9), beta=2.0, threshold=3.0))
    far, near, each = wave(4, 3), wave(4, 3, start=1.0), 1.5 + wave(4, 3)
    for name in ("mse_loss", "l1_loss", "huber_loss"):
        losses = [getattr(F, name)(far, near, weight=each, reduction=how) for how in ("mean", "sum", "none")]
        found[f"{name} weight"] = flat(*losses)
    found["gelu tanh"] = flat(F.gelu(4.0 * wave(9), approximate="tanh"))
    h, c = wave(4, 2, start=0.3), wave(4, 2, start=0.6)
    found["RNNCell"] = flat(filled(nn.RNNCell(3, 2))(x, h))
    found["RNNCell relu"] = flat(filled(nn.RNNCell(3, 2, nonlinearity="relu"))(x, h))
    found["GRUCell"] = flat(filled(nn.GRUCell(3, 2))(x, h))
    found["LSTMCell"] = flat(*filled(nn.LSTMCell(3, 2))(x, (h, c)))
    for name in ("RNN", "GRU", "LSTM"):
        for how, options in {
            "plain": {},
            "deep": {"num_layers": 2, "bidirectional": True},
            "batch first": {"batch_first": True, "bias": False},
        }.items():
            layers = filled(getattr(nn, name)(3, 2, **options))
            z = wave(4, 2, 3).requires_grad_()
            y, state = layers(z)
            states = state if name == "LSTM" else (state,)
            ((y * y).sum() + (states[0] ** 3).sum()).backward()
            found[f"{name} {how}"] = flat(y, *states, z.grad, *(p.grad for p in layers.parameters()))
    found["LayerNorm"] = flat(filled(nn.LayerNorm(3))(x))
    sequence = wave(5, 2, 4)
    attention = filled(nn.MultiheadAttention(4, 2))
    found["MultiheadAttention"] = flat(*attention(sequence, sequence, sequence))
    mask = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    padding = torch.tensor([[False] * 5, [False, False, False, True, True]])
    found["MultiheadAttention masked"] = flat(
        *attention(sequence, sequence, sequence, attn_mask=mask, key_padding_mask=padding)
    )
    wide = filled(nn.MultiheadAttention(4, 2, kdim=3, vdim=2, add_bias_kv=True, add_zero_attn=True, batch_first=True))
    keys = wave(5, 3, 3, start=0.2), wave(5, 3, 2, start=0.4)
    hidden = torch.triu(torch.ones(2, 3, dtype=torch.bool), 1).expand(10, 2, 3)
    found["MultiheadAttention wide"] = flat(*wide(sequence, *keys, attn_mask=hidden, average_attn_weights=False))
    found["MultiheadAttention alone"] = flat(*attention(sequence[0], sequence[1], sequence[2], attn_mask=mask[:2, :2]))
    heads = wave(2, 4, 3, 2), wave(2, 2, 3, 2, start=0.1), wave(2, 2, 3, 2, start=0.2)
    found["attention causal"] = flat(F.scaled_dot_product_attention(*heads, is_causal=True, scale=0.3, enable_gqa=True))
    nothing = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    found["attention to nothing"] = flat(F.scaled_dot_product_attention(heads[1], heads[1], heads[2], nothing))
    norm = filled(nn.BatchNorm1d(3))
    first = norm(x)
    norm.eval()
    found["BatchNorm1d"] = flat(first, norm.running_mean, norm.running_var, norm(x))
    norm = filled(nn.BatchNorm2d(2, momentum=None))
    image = wave(2, 2, 3, 2)
    first, _ = norm(image), norm(2.0 * image)
    found["BatchNorm2d"] = flat(first, norm.running_mean, norm.running_var)
    images, kernel, bias = wave(2, 4, 7, 6), wave(6, 4, 3, 2), wave(6)
    for name, options in {
        "plain": {},
        "stride": {"stride": (2, 1), "padding": (1, 2)},
        "dilation": {"dilation": (2, 3), "padding": 1},
    }.items():
        found[f"conv2d {name}"] = flat(F.conv2d(images, kernel, bias, **options))
    found["conv2d same"] = flat(F.conv2d(images, kernel, bias, padding="same", dilation=(1, 2)))
    for mode in ("reflect", "replicate", "circular"):
        layer = filled(nn.Conv2d(4, 2, (3, 2), stride=2, padding=(2, 1), padding_mode=mode))
        found[f"conv2d {mode}"] = flat(layer(images))
    found["conv2d circular same"] = flat(
        filled(nn.Conv2d(4, 2, (4, 2), padding="same", padding_mode="circular"))(images)
    )
    found["conv2d groups"] = flat(F.conv2d(images, wave(6, 2, 3, 3), None, groups=2, stride=2))
    for name, options in {
        "plain": {"kernel_size": 2},
        "overlap": {"kernel_size": (3, 2), "stride": (2, 1), "padding": 1},
    }.items():
        for kind in ("max", "avg"):
            z = images.clone().requires_grad_()
            y = getattr(F, f"{kind}_pool2d")(z, **options)
            (y * y).sum().backward()
            found[f"{kind}_pool2d {name}"] = flat(y, z.grad[0, 0])
    found["max_pool2d dilation"] = flat(F.max_pool2d(images, 2, stride=1, dilation=2))
    found["avg_pool2d exclude"] = flat(F.avg_pool2d(images, 3, stride=2, padding=1, count_include_pad=False))
    found["adaptive"] = flat(F.adaptive_avg_pool2d(images, (3, 4)))
    found["max_pool2d ceil"] = flat(F.max_pool2d(images, 3, (2, 4), padding=1, ceil_mode=True))
    found["avg_pool2d ceil"] = flat(F.avg_pool2d(images, 3, (2, 4), padding=1, ceil_mode=True))
    found["avg_pool2d ceil exclude"] = flat(F.avg_pool2d(images, 3, 2, 1, ceil_mode=True, count_include_pad=False))
    found["avg_pool2d divisor"] = flat(F.avg_pool2d(images, (2, 3), divisor_override=5))
    found["adaptive keeps"] = flat(F.adaptive_avg_pool2d(images, (None, 2)))
    for name, function, args, options in function_cases(torch, wave):
        given = [a.clone().requires_grad_() if a.is_floating_point() else a for a in args]
        y = function(*given, **options)
        (y * y).sum().backward()
        found[name] = flat(y, *(a.grad for a in given if a.requires_grad))
    for name, layer, shape in layer_cases(nn):
        z, layer = wave(*shape).requires_grad_(), filled(layer)
        y = layer(z)
        (y * y).sum().backward()
        found[name] = flat(y, z.grad, *(p.grad for p in layer.parameters()))
    print(json.dumps(found).replace("], ", "],\n"))


if __name__ == "__main__":
    main()
