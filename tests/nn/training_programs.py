"""Programs that train, as users of PyTorch write them: the test runs the same text with PyTorch's names.

`np` stands for ``torch`` there, and so do `tx` and its modules; `plain` is NumPy in both.
"""

import copy
import math

import numpy as np
import numpy as plain

import tangentx as tx
import tangentx.nn.functional as F
from tangentx import nn
from tangentx.optim import lr_scheduler


def data(*shape, seed=0):
    return tx.tensor(plain.random.default_rng(seed).normal(size=shape))


def classes(n, k, seed=0):
    return tx.tensor(plain.random.default_rng(seed).integers(0, k, n))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.register_buffer("mask", tx.tensor(plain.triu(plain.full((12, 12), -1e9), 1)))
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.proj = nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        B, T, C = x.shape
        qkv = self.qkv(self.norm1(x))
        q, k, v = qkv[..., :C], qkv[..., C : 2 * C], qkv[..., 2 * C :]
        q = np.swapaxes(q.reshape(B, T, self.heads, C // self.heads), 1, 2)
        k = np.swapaxes(k.reshape(B, T, self.heads, C // self.heads), 1, 2)
        v = np.swapaxes(v.reshape(B, T, self.heads, C // self.heads), 1, 2)
        att = (q @ np.swapaxes(k, -2, -1)) / math.sqrt(k.shape[-1])
        att = F.softmax(att + self.mask[:T, :T], dim=-1)
        y = np.swapaxes(att @ v, 1, 2).reshape(B, T, C)
        x = x + self.proj(y)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocab, d, length):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Parameter(tx.tensor(plain.random.default_rng(5).normal(size=(length, d)) * 0.1))
        self.blocks = nn.ModuleList([Block(d, 2) for _ in range(2)])
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, vocab, bias=False)

    def forward(self, tokens):
        x = self.tok(tokens) + self.pos[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def gpt_model():
    return GPT(7, 8, 12)


def gpt_args():
    t = tx.tensor(plain.random.default_rng(1).integers(0, 7, (3, 9)))
    return t[:, :8], t[:, 1:]


def gpt_loss(model, x, y):
    logits = model(x)
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))


def gpt_train(model):
    decay = [p for n, p in model.named_parameters() if p.ndim >= 2]
    rest = [p for n, p in model.named_parameters() if p.ndim < 2]
    opt = tx.optim.AdamW(
        [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=3e-3, betas=(0.9, 0.95)
    )
    warm = lr_scheduler.LinearLR(opt, start_factor=0.1, total_iters=5)
    cos = lr_scheduler.CosineAnnealingLR(opt, T_max=15, eta_min=1e-4)
    sched = lr_scheduler.SequentialLR(opt, [warm, cos], milestones=[5])
    x, y = gpt_args()
    seen = []
    for step in range(20):
        loss = gpt_loss(model, x, y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        seen += [loss.item(), opt.param_groups[0]["lr"], sched.get_last_lr()[1]]
    return seen


class GAN(nn.Module):
    def __init__(self):
        super().__init__()
        self.G = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        self.D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))


def gan_model():
    return GAN()


def gan_args():
    return data(6, 3, seed=3), data(6, 2, seed=4)


def gan_loss(model, z, real):
    fake = model.G(z)
    ones = np.ones((6, 1), dtype=np.float64)
    return F.binary_cross_entropy_with_logits(model.D(fake), ones) + F.softplus(-model.D(real)).mean()


def gan_train(model):
    criterion = nn.BCEWithLogitsLoss()
    opt_g = tx.optim.Adam(model.G.parameters(), lr=1e-2, betas=(0.5, 0.999))
    opt_d = tx.optim.Adam(model.D.parameters(), lr=1e-2, betas=(0.5, 0.999))
    seen = []
    for i in range(15):
        real = data(6, 2, seed=i) * 0.5 + 2.0
        z = data(6, 3, seed=100 + i)
        fake = model.G(z)
        opt_d.zero_grad()
        out_real = model.D(real)
        out_fake = model.D(fake.detach())
        d_loss = criterion(out_real, np.ones_like(out_real)) + criterion(out_fake, np.zeros_like(out_fake))
        d_loss.backward()
        opt_d.step()
        opt_g.zero_grad()
        out = model.D(fake)
        g_loss = criterion(out, np.ones_like(out))
        g_loss.backward()
        opt_g.step()
        seen += [d_loss.item(), g_loss.item()]
    return seen


def mlp():
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))


def mlp_args():
    return data(8, 4), classes(8, 3)


def mlp_loss(model, x, y):
    return F.cross_entropy(model(x), y)


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = copy.deepcopy(model)
        for p in self.shadow.parameters():
            p.requires_grad_(False)

    def update(self, model):
        with tx.no_grad():
            for s, p in zip(self.shadow.parameters(), model.parameters()):
                s.mul_(self.decay).add_(p.detach(), alpha=1 - self.decay)
            for s, p in zip(self.shadow.buffers(), model.buffers()):
                s.copy_(p)


def ema_train(model):
    ema = EMA(model, 0.9)
    opt = tx.optim.RMSprop(model.parameters(), lr=0.01)
    x, y = mlp_args()
    seen = []
    for _ in range(10):
        opt.zero_grad()
        loss = mlp_loss(model, x, y)
        loss.backward()
        opt.step()
        ema.update(model)
        with tx.no_grad():
            seen += [loss.item(), mlp_loss(ema.shadow, x, y).item()]
    return seen


def dropped():
    return nn.Sequential(nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3))


def early_train(model):
    opt = tx.optim.Adam(model.parameters(), lr=0.1)
    sched = lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=2)
    x, y = data(12, 4), classes(12, 3)
    xv, yv = data(10, 4, seed=7), classes(10, 3, seed=7)
    best, wait, best_state = float("inf"), 0, None
    seen = []
    for epoch in range(40):
        model.train()
        for i in range(0, 12, 4):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[i : i + 4]), y[i : i + 4])
            loss.backward()
            opt.step()
        model.eval()
        with tx.no_grad():
            val = F.cross_entropy(model(xv), yv).item()
            acc = float((model(xv).argmax(dim=1) == yv).sum()) / 10
        sched.step(val)
        seen += [val, acc, opt.param_groups[0]["lr"]]
        if val < best - 1e-4:
            best, wait, best_state = val, 0, copy.deepcopy(model.state_dict())
        else:
            wait += 1
            if wait >= 5:
                break
    model.load_state_dict(best_state)
    with tx.no_grad():
        seen.append(F.cross_entropy(model(xv), yv).item())
    return seen


class Fine(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 3, 3, padding=1, bias=False), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
        )
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


def fine_model():
    return Fine()


def fine_args():
    return data(5, 1, 4, 4), classes(5, 3)


def fine_train(model):
    for p in model.backbone.parameters():
        p.requires_grad = False
    opt = tx.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2)
    x, y = fine_args()
    seen = []
    for epoch in range(12):
        if epoch == 6:
            for p in model.backbone.parameters():
                p.requires_grad = True
            opt.add_param_group({"params": model.backbone.parameters(), "lr": 1e-3})
        model.train()
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        seen += [loss.item(), sum(p.numel() for p in model.parameters() if p.requires_grad)]
    seen.append(float(all(p.grad is not None for p in model.parameters())))
    return seen


class RunningNorm(nn.Module):
    def __init__(self, n, momentum=0.1):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("mean", tx.tensor(plain.zeros(n)))
        self.register_buffer("var", tx.tensor(plain.ones(n)))
        self.register_buffer("steps", tx.tensor(0))
        self.scale = nn.Parameter(tx.tensor(plain.ones(n)))

    def forward(self, x):
        if self.training:
            with tx.no_grad():
                self.mean += self.momentum * (x.mean(0) - self.mean)
                self.var = (1 - self.momentum) * self.var + self.momentum * ((x - self.mean) ** 2).mean(0)
                self.steps += 1
        return self.scale * (x - self.mean) / np.sqrt(self.var + 1e-5)


def buffer_model():
    return nn.Sequential(RunningNorm(4), nn.Linear(4, 3))


def buffer_train(model):
    opt = tx.optim.SGD(model.parameters(), lr=0.1)
    seen = []
    for i in range(8):
        x, y = data(6, 4, seed=i) * 2 + 1, classes(6, 3, seed=i)
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        seen.append(loss.item())
    model.eval()
    with tx.no_grad():
        seen += [model(x).sum().item(), model[0].steps.item(), float(model.state_dict()["0.mean"].sum())]
    return seen


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, s):
        return self.net(s)


def q_model():
    return QNet()


def q_args():
    return data(6, 3), classes(6, 4), data(6, seed=5)


def q_loss(model, s, a, target):
    q = model(s)
    picked = np.sum(q * F.one_hot(a, 4), axis=1)
    return F.smooth_l1_loss(picked, target)


def q_train(policy):
    target = copy.deepcopy(policy)
    target.load_state_dict(policy.state_dict())
    target.eval()
    opt = tx.optim.AdamW(policy.parameters(), lr=1e-2, amsgrad=True)
    seen = []
    for i in range(10):
        s, a, r = data(6, 3, seed=i), classes(6, 4, seed=i), data(6, seed=50 + i)
        s2 = data(6, 3, seed=100 + i)
        values = policy(s).gather(1, a.reshape(-1, 1)).squeeze(1)
        with tx.no_grad():
            nxt = target(s2).max(dim=1).values
        expected = nxt * 0.9 + r
        loss = nn.SmoothL1Loss()(values, expected)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(policy.parameters(), 100)
        opt.step()
        ts, ps = target.state_dict(), policy.state_dict()
        for key in ps:
            ts[key] = ps[key] * 0.1 + ts[key] * 0.9
        target.load_state_dict(ts)
        seen.append(loss.item())
    return seen


def gp_train(model):
    opt = tx.optim.Adam(model.D.parameters(), lr=1e-3, betas=(0.0, 0.9))
    seen = []
    for i in range(8):
        real, fake = data(5, 2, seed=i), model.G(data(5, 3, seed=i)).detach()
        alpha = tx.tensor(plain.random.default_rng(i).uniform(size=(5, 1)))
        mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
        out = model.D(mixed)
        (grads,) = tx.autograd.grad(out.sum(), mixed, create_graph=True)
        penalty = ((grads.norm(2, dim=1) - 1) ** 2).mean()
        loss = model.D(fake).mean() - model.D(real).mean() + 10.0 * penalty
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen.append(loss.item())
    return seen


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8, 4, padding_idx=0)
        self.enc = nn.GRU(4, 5, batch_first=True)
        self.dec = nn.GRUCell(4, 5)
        self.out = nn.Linear(5, 8)

    def forward(self, src, tgt):
        _, h = self.enc(self.embed(src))
        h = h[0]
        logits = []
        for t in range(tgt.shape[1]):
            h = self.dec(self.embed(tgt[:, t]), h)
            logits.append(self.out(h))
        return np.stack(logits, axis=1)


def s2s_model():
    return Seq2Seq()


def s2s_args():
    return tx.tensor(plain.random.default_rng(0).integers(1, 8, (3, 6))), tx.tensor(
        plain.array([[1, 3, 5, 2], [1, 4, 2, 0], [1, 2, 0, 0]])
    )


def s2s_loss(model, src, tgt):
    logits = model(src, tgt[:, :-1])
    return F.cross_entropy(logits.reshape(-1, 8), tgt[:, 1:].reshape(-1), ignore_index=0)


def s2s_train(model):
    opt = tx.optim.Adam(model.parameters(), lr=0.05)
    sched = lr_scheduler.LambdaLR(opt, lambda e: 1.0 / math.sqrt(e + 1))
    seen = []
    for _ in range(10):
        opt.zero_grad()
        loss = s2s_loss(model, *s2s_args())
        loss.backward()
        opt.step()
        sched.step()
        seen.append(loss.item())
    return seen


def masked_train(model):
    opt = tx.optim.Adam(model.parameters(), lr=0.01)
    seen = []
    for i in range(6):
        x, y = data(10, 4, seed=i), classes(10, 3, seed=i)
        losses = F.cross_entropy(model(x), y, reduction="none")
        hard = losses > losses.detach().mean()
        loss = losses[hard].mean() + 0.1 * losses.max()
        opt.zero_grad()
        loss.backward()
        total = math.sqrt(sum(float(p.grad.data.norm(2)) ** 2 for p in model.parameters()))
        opt.step()
        seen += [loss.item(), total, int(hard.sum())]
    return seen


PROGRAMS = {
    "causal attention, groups, schedules in turn": (gpt_model, gpt_train, gpt_loss, gpt_args),
    "two optimisers": (gan_model, gan_train, gan_loss, gan_args),
    "gradient penalty": (gan_model, gp_train, gan_loss, gan_args),
    "averaged weights": (mlp, ema_train, mlp_loss, mlp_args),
    "losses above the mean": (mlp, masked_train, mlp_loss, mlp_args),
    "early stopping": (dropped, early_train, mlp_loss, mlp_args),
    "frozen layers": (fine_model, fine_train, mlp_loss, fine_args),
    "buffers": (buffer_model, buffer_train, None, None),
    "a slow copy": (q_model, q_train, q_loss, q_args),
    "sequences to sequences": (s2s_model, s2s_train, s2s_loss, s2s_args),
}
"""Each with its model, what trains it, and a loss with arguments where it is compiled too."""
