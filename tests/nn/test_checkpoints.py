"""A saved state is whole or not there; an interrupted training goes on as if nothing had been."""

import multiprocessing
import os
import signal
import stat
import time

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn


def model_of(seed):
    return nn.Sequential(nn.Linear(3, 4, generator=seed), nn.Tanh(), nn.Linear(4, 1, generator=seed + 1))


def loss(model, x):
    return np.mean(model(x) ** 2)


@pytest.mark.parametrize("error", [OSError("no space left on device"), KeyboardInterrupt()])
def test_what_fails_leaves_the_file_that_was_there(tmp_path, monkeypatch, error):
    path = tmp_path / "model.npz"
    old = model_of(0)
    old.save(path)
    before = path.read_bytes()

    def fails(file, **arrays):
        file.write(b"half")
        raise error

    monkeypatch.setattr(np, "savez", fails)
    with pytest.raises(type(error)):
        model_of(5).save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["model.npz"]
    np.testing.assert_array_equal(model_of(5).load(path).state_dict()["0.weight"], old.state_dict()["0.weight"])


def test_names_permissions_and_open_files(tmp_path):
    model = model_of(0)
    model.save(tmp_path / "plain")
    model.save(str(tmp_path / "v1.5"))
    assert sorted(os.listdir(tmp_path)) == ["plain.npz", "v1.5.npz"]
    path = tmp_path / "plain.npz"
    np.savez(tmp_path / "new.npz", x=1.0)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "new.npz").stat().st_mode)
    path.chmod(0o600)
    model.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with open(tmp_path / "open.npz", "wb") as file:
        model.save(file)
    for name in ("plain.npz", "open.npz"):
        assert model_of(3).load(tmp_path / name).state_dict().keys() == model.state_dict().keys()


def saves_for_ever(path):
    model = nn.Linear(200, 200, generator=0)
    count = 0
    while True:
        nn.init.constant_(model.weight, float(count))
        model.save(path)
        count += 1


def test_a_process_that_is_killed_leaves_a_whole_file(tmp_path):
    path = tmp_path / "model.npz"
    for wait in (0.05, 0.013, 0.027):
        worker = multiprocessing.get_context("fork").Process(target=saves_for_ever, args=(path,))
        worker.start()
        deadline = time.monotonic() + 30.0
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(wait)
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
        weight = nn.Linear(200, 200).load(path).state_dict()["weight"]
        assert np.all(weight == weight[0, 0])


def steps(model, opt, schedule, x, count):
    for _ in range(count):
        opt.zero_grad()
        loss(model, x).backward()
        opt.step()
        schedule.step()


def test_a_resumed_training_is_equal_to_the_bit(tmp_path):
    x = np.linspace(-1.0, 1.0, 15).reshape(5, 3)

    def begun():
        model = model_of(0)
        opt = tx.optim.AdamW(model.parameters(), lr=0.01)
        return model, opt, tx.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=20)

    whole = begun()
    steps(*whole, x, 20)
    first = begun()
    steps(*first, x, 8)
    first[0].save(tmp_path / "model.npz")
    states = first[1].state_dict(), first[2].state_dict()
    second = begun()
    second[0].load(tmp_path / "model.npz")
    second[1].load_state_dict(states[0])
    second[2].load_state_dict(states[1])
    steps(*second, x, 12)
    for name, value in whole[0].state_dict().items():
        np.testing.assert_array_equal(second[0].state_dict()[name], value)


def test_a_file_that_is_not_whole_is_named(tmp_path):
    from tangentx import nn

    layer = nn.Linear(2, 3)
    layer.save(tmp_path / "whole.npz")
    data = (tmp_path / "whole.npz").read_bytes()
    for length in (0, 10, len(data) // 2, len(data) - 5):
        (tmp_path / "cut.npz").write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"cut\.npz is no whole \.npz file"):
            layer.load(tmp_path / "cut.npz")
    with pytest.raises(FileNotFoundError):
        layer.load(tmp_path / "none.npz")
