"""Programs that work on spectra."""

import numpy as np

from tests.programs.case import Program, draw


def diffused(u, k, steps):
    """Heat on a ring: each frequency decays by itself."""
    n = u.shape[0]
    frequencies = np.fft.rfftfreq(n, 0.5)
    for step in range(steps):
        spectrum = np.fft.rfft(u)
        spectrum[1:] = spectrum[1:] * np.exp(-k * frequencies[1:] ** 2)
        u = np.fft.irfft(spectrum, n)
        u = u + 0.1 * np.sin(u)
    return np.sum(u**3)


def blurred_on_a_torus(image, kernel):
    """A picture blurred on a torus, the kernel continued with zeros."""
    product = np.fft.fft2(image) * np.fft.fft2(kernel, s=image.shape)
    blurred = np.real(np.fft.ifft2(product))
    return np.sum(np.fft.fftshift(blurred, axes=0)[0] ** 3) + np.sum(blurred**2)


PROGRAMS = [
    Program(diffused, lambda: (draw(7, seed=1), 0.02, 2), ("u", "k")),
    Program(blurred_on_a_torus, lambda: (draw(3, 4, seed=2), draw(2, 2, seed=3)), ("image", "kernel")),
]
