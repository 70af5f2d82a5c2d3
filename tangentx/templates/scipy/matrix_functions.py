"""Functions of matrices.

The derivative of a function of a matrix is a block of that of a matrix of twice the size (Higham 2008, theorem 3.6).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.arrays import demand_real, stop_gradient, valued
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint


@adjoint(linalg.expm, domain=("A(2,2)", "A(3,2,2)"))
def expm(A: Any, *, ans_bar: Any, A_shape: Any) -> Any:
    """Exponential of a matrix; its derivative is a block of that of a matrix of twice the size."""
    turned = np.swapaxes(A, -1, -2)
    doubled = linalg.expm(np.block([[turned, ans_bar], [0.0 * turned, turned]]))
    A_bar = doubled[..., : A_shape[-1], A_shape[-1] :]
    return A_bar


@expm.tangent
def expm_tangent(A: Any, *, A_dot: Any, A_shape: Any) -> Any:
    """The upper right block."""
    doubled = linalg.expm(np.block([[A, A_dot], [0.0 * A, A]]))
    ans_dot = doubled[..., : A_shape[-1], A_shape[-1] :]
    return ans_dot


@adjoint(linalg.sqrtm, domain=("0.3 * A(2,2) + 4.0 * np.eye(2)", "0.3 * C(2,2) + 4.0 * np.eye(2)"))
def sqrtm(A: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Square root of a matrix that has a real one, or of a complex one, by an equation of Sylvester."""
    turned = np.swapaxes(ans, -1, -2)
    A_bar = linalg.solve_sylvester(turned, turned, demand_real(ans_bar, ans, A))
    return A_bar


@sqrtm.tangent
def sqrtm_tangent(A: Any, *, ans: Any, A_dot: Any) -> Any:
    """The tangent of the root, by what its square has."""
    ans_dot = linalg.solve_sylvester(ans, ans, demand_real(A_dot, ans, A))
    return ans_dot


@adjoint(linalg.logm, domain=("0.3 * C(2,2) + 4.0 * np.eye(2)",))
def logm(A: Any, *, ans: Any, ans_bar: Any, A_shape: Any) -> Any:
    """Logarithm of a matrix that has a real one, or of a complex one."""
    turned = np.ones(1) * np.swapaxes(A, -1, -2)  # of single precision SciPy says that it is inaccurate
    doubled = linalg.logm(np.block([[turned, demand_real(ans_bar, ans, A)], [0.0 * turned, turned]]))
    A_bar = doubled[..., : A_shape[-1], A_shape[-1] :]
    return A_bar


@logm.tangent
def logm_tangent(A: Any, *, ans: Any, A_dot: Any, A_shape: Any) -> Any:
    """The upper right block."""
    matrix = np.ones(1) * A
    doubled = linalg.logm(np.block([[matrix, demand_real(A_dot, ans, A)], [0.0 * matrix, matrix]]))
    ans_dot = doubled[..., : A_shape[-1], A_shape[-1] :]
    return ans_dot


@adjoint(linalg.fractional_matrix_power, domain=("0.3 * A(2,2) + 4.0 * np.eye(2), 1.5",))
def fractional_matrix_power(A: Any, t: Any, *, ans: Any, ans_bar: Any, A_shape: Any) -> Any:
    """Power of a matrix that has a real one, or of a complex one."""
    turned = np.swapaxes(A, -1, -2)
    bar = demand_real(ans_bar, ans, A)
    doubled = linalg.fractional_matrix_power(np.block([[turned, bar], [0.0 * turned, turned]]), t)
    A_bar = doubled[..., : A_shape[-1], A_shape[-1] :]
    return A_bar


@fractional_matrix_power.tangent
def fractional_matrix_power_tangent(A: Any, t: Any, *, ans: Any, A_dot: Any, A_shape: Any) -> Any:
    """The upper right block."""
    doubled = linalg.fractional_matrix_power(np.block([[A, demand_real(A_dot, ans, A)], [0.0 * A, A]]), t)
    ans_dot = doubled[..., : A_shape[-1], A_shape[-1] :]
    return ans_dot


@composition(linalg.expm_frechet, domain=("A(2,2), A(2,2)", "A(2,2), A(2,2), compute_expm=False"))
def expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: Any = True, check_finite: Any = True) -> Any:
    """Exponential of a matrix, and its derivative along `E`."""
    size = np.shape(A)[0]
    doubled = linalg.expm(np.block([[A, E], [0.0 * np.asarray(A), A]]))
    known, change = linalg.expm_frechet(stop_gradient(np.asarray(A)), stop_gradient(np.asarray(E)), method)
    change = valued(change, doubled[:size, size:])
    return (valued(known, doubled[:size, :size]), change) if compute_expm else change


@composition(linalg.cosm, domain=("A(2,2)", "C(2,2)"))
def cosm(A: Any) -> Any:
    """Cosine of a matrix."""
    A = np.asarray(A)
    if np.iscomplexobj(A):
        return 0.5 * (linalg.expm(1j * A) + linalg.expm(-1j * A))
    return np.real(linalg.expm(1j * A))


@composition(linalg.sinm, domain=("A(2,2)", "C(2,2)"))
def sinm(A: Any) -> Any:
    """Sine of a matrix."""
    A = np.asarray(A)
    if np.iscomplexobj(A):
        return -0.5j * (linalg.expm(1j * A) - linalg.expm(-1j * A))
    return np.imag(linalg.expm(1j * A))


@composition(linalg.tanm, domain=("A(2,2)",))
def tanm(A: Any) -> Any:
    """Tangent of a matrix."""
    return np.linalg.solve(linalg.cosm(A), linalg.sinm(A))


@composition(linalg.coshm, domain=("A(2,2)", "C(2,2)"))
def coshm(A: Any) -> Any:
    """Hyperbolic cosine of a matrix."""
    return 0.5 * (linalg.expm(A) + linalg.expm(-A))


@composition(linalg.sinhm, domain=("A(2,2)",))
def sinhm(A: Any) -> Any:
    """Hyperbolic sine of a matrix."""
    return 0.5 * (linalg.expm(A) - linalg.expm(-A))


@composition(linalg.tanhm, domain=("A(2,2)",))
def tanhm(A: Any) -> Any:
    """Hyperbolic tangent of a matrix."""
    return np.linalg.solve(linalg.coshm(A), linalg.sinhm(A))
