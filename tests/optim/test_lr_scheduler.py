"""The rates of each schedule are those of torch."""

import numpy as np
import pytest

import tangentx as tx
from tangentx.optim import SGD, lr_scheduler
from tests.optim.figures import LOSSES, PLATEAU, RATES


def rate_of(opt):
    return opt.param_groups[0]["lr"]


@pytest.mark.parametrize("name, options, figures", RATES, ids=[name for name, _, _ in RATES])
def test_rates(name, options, figures):
    opt = SGD(lr=0.8)
    schedule = getattr(lr_scheduler, name)(opt, **options)
    seen = []
    for _ in figures:
        seen.append(rate_of(opt))
        schedule.step()
    np.testing.assert_allclose(seen, figures, rtol=1e-12)


@pytest.mark.parametrize("options, figures", PLATEAU, ids=["rel", "abs", "max", "max-rel"])
def test_plateau(options, figures):
    opt = SGD(lr=0.8)
    schedule = lr_scheduler.ReduceLROnPlateau(opt, **options)
    seen = []
    for value in LOSSES:
        schedule.step(value)
        seen.append(rate_of(opt))
    np.testing.assert_allclose(seen, figures, rtol=1e-12)


def test_a_function_for_each_group():
    a, b = (tx.tensor(1.0, requires_grad=True) for _ in range(2))
    opt = SGD([{"params": [a]}, {"params": [b], "lr": 0.1}], lr=1.0)
    schedule = lr_scheduler.LambdaLR(opt, [lambda epoch: 1.0 / (1 + epoch), lambda epoch: 2.0**epoch])
    schedule.step()
    schedule.step()
    assert schedule.get_last_lr() == [1.0 / 3, 0.1 * 4]
    with pytest.raises(ValueError, match="groups"):
        lr_scheduler.LambdaLR(opt, [lambda epoch: 1.0])


def test_a_schedule_goes_on_where_it_was_saved():
    first, second = SGD(lr=1.0), SGD(lr=1.0)
    whole = lr_scheduler.ExponentialLR(first, 0.5)
    for _ in range(4):
        whole.step()
    resumed = lr_scheduler.ExponentialLR(second, 0.5)
    resumed.load_state_dict(whole.state_dict())
    assert rate_of(second) == rate_of(first) == 0.5**4


def test_options_without_meaning_are_refused():
    with pytest.raises(ValueError, match="factor"):
        lr_scheduler.ReduceLROnPlateau(SGD(), factor=1.0)
    with pytest.raises(ValueError, match="mode"):
        lr_scheduler.ReduceLROnPlateau(SGD(), mode="least")


def test_schedules_one_after_the_other():
    """PyTorch's own rates: the schedules of SequentialLR of torch 2.13, written down."""

    def made(opt):
        parts = [
            lr_scheduler.LinearLR(opt, 0.1, total_iters=3),
            lr_scheduler.CosineAnnealingLR(opt, 4),
            lr_scheduler.StepLR(opt, 1, 0.5),
        ]
        return lr_scheduler.SequentialLR(opt, parts, [3, 6])

    opt = tx.optim.SGD(lr=0.1)
    schedule, rates = made(opt), []
    for _ in range(8):
        rates.append(opt.param_groups[0]["lr"])
        schedule.step()
    cosine = [0.1 * (1.0 + np.cos(np.pi * k / 4.0)) / 2.0 for k in range(3)]
    np.testing.assert_allclose(rates, [0.01, 0.04, 0.07, *cosine, 0.1, 0.05], rtol=1e-12)
    again = made(tx.optim.SGD(lr=0.1))
    again.load_state_dict(schedule.state_dict())
    again.step()
    schedule.step()
    assert again.get_last_lr() == schedule.get_last_lr()
    with pytest.raises(ValueError, match="3 schedules have 2 milestones, not 1"):
        lr_scheduler.SequentialLR(opt, schedule.schedulers, [3])
    with pytest.raises(ValueError, match="another optimizer"):
        lr_scheduler.SequentialLR(tx.optim.SGD(lr=0.1), schedule.schedulers, [3, 6])
