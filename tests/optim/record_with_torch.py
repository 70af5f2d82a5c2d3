"""Prints tests/optim/figures.py without its first lines; needs torch, which the tests do not."""

import importlib
import warnings


def main():
    torch = importlib.import_module("torch")
    torch.set_default_dtype(torch.float64)
    CASES = [
        ("SGD", dict(lr=0.05)),
        ("SGD", dict(lr=0.05, momentum=0.9)),
        ("SGD", dict(lr=0.02, momentum=0.8, dampening=0.3, weight_decay=0.1)),
        ("SGD", dict(lr=0.02, momentum=0.9, nesterov=True, weight_decay=0.05)),
        ("SGD", dict(lr=0.002, momentum=0.5, maximize=True)),
        ("Adam", dict(lr=0.03)),
        ("Adam", dict(lr=0.03, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1)),
        ("Adam", dict(lr=0.05, amsgrad=True)),
        ("Adam", dict(lr=0.01, maximize=True)),
        ("AdamW", dict(lr=0.03)),
        ("AdamW", dict(lr=0.03, weight_decay=0.2, amsgrad=True)),
        ("RMSprop", dict(lr=0.01)),
        ("RMSprop", dict(lr=0.01, alpha=0.9, momentum=0.5, weight_decay=0.1)),
        ("RMSprop", dict(lr=0.01, centered=True, eps=1e-5)),
        ("RMSprop", dict(lr=0.01, centered=True, momentum=0.9, maximize=True)),
        ("Adagrad", dict(lr=0.2)),
        ("Adagrad", dict(lr=0.2, lr_decay=0.05, weight_decay=0.1, initial_accumulator_value=0.5)),
    ]

    def loss(w, b):
        return (
            0.5 * (torch.tensor([1.0, 3.0, 0.2]) * w * w).sum()
            + torch.sin(w).sum() * b[0]
            + 0.3 * b[1] ** 2
            + 0.1 * b[0] ** 2
            + torch.cos(b).sum()
        )

    out = []
    for name, kw in CASES:
        w = torch.tensor([1.5, -0.7, 2.0], requires_grad=True)
        b = torch.tensor([0.4, -1.1], requires_grad=True)
        opt = getattr(torch.optim, name)([{"params": [w]}, {"params": [b], "lr": kw["lr"] / 2}], **kw)
        row = []
        for t in range(100):
            opt.zero_grad()
            loss(w, b).backward()
            opt.step()
            if t in (0, 9, 99):
                row.append(w.tolist() + b.tolist())
        out.append((name, kw, row))
    print("STEPS = [")
    for name, kw, row in out:
        print(f'    ("{name}", {kw!r}, [')
        for r in row:
            print("        " + repr(r) + ",")
        print("    ]),")
    print("]")
    S = torch.optim.lr_scheduler
    RATES = [
        ("StepLR", dict(step_size=3, gamma=0.4)),
        ("MultiStepLR", dict(milestones=[2, 5, 5, 9], gamma=0.3)),
        ("ExponentialLR", dict(gamma=0.9)),
        ("CosineAnnealingLR", dict(T_max=8, eta_min=0.01)),
        ("LinearLR", dict(start_factor=0.25, end_factor=0.9, total_iters=6)),
    ]
    print("RATES = [")
    warnings.simplefilter("ignore")
    for name, kw in RATES:
        w = torch.zeros(1, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.8)
        s = getattr(S, name)(opt, **kw)
        r = []
        for t in range(16):
            r.append(opt.param_groups[0]["lr"])
            opt.step()
            s.step()
        print(f'    ("{name}", {kw!r}, {r!r}),')
    print("]")
    losses = [
        3.0,
        2.0,
        1.9999,
        1.5,
        1.6,
        1.5,
        1.7,
        1.6,
        1.55,
        1.499,
        1.2,
        1.2,
        1.2,
        1.2,
        1.2,
        1.2,
        1.2,
        -1.0,
        -1.05,
        -1.0,
        -1.0,
        -1.0,
    ]
    print("LOSSES =", losses)
    print("PLATEAU = [")
    for kw in [
        dict(factor=0.5, patience=2),
        dict(factor=0.5, patience=1, cooldown=2, threshold=0.01, threshold_mode="abs"),
        dict(mode="max", factor=0.3, patience=2, min_lr=0.05),
        dict(mode="max", factor=0.3, patience=0, threshold=0.1, threshold_mode="rel", min_lr=0.01),
    ]:
        w = torch.zeros(1, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.8)
        s = S.ReduceLROnPlateau(opt, **kw)
        r = []
        for l in losses:
            s.step(l)
            r.append(opt.param_groups[0]["lr"])
        print(f"    ({kw!r}, {r!r}),")
    print("]")


if __name__ == "__main__":
    main()
