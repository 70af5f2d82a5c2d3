"""Rows of the reference that were half fulfilled, or are shown elsewhere than in its own file, by what shows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
REFERENCE, EXAMPLES = "tensor/test_reference.py", "test_examples.py"
ROWS: dict[str, list[tuple[str, str]]] = {
    "0.4": [(REFERENCE, "test_0_4_and_0_14_grad_manager"), (REFERENCE, "test_0_4_a_manager_in_a_loop_and_in_another")],
    "0.14": [(REFERENCE, "test_0_4_and_0_14_grad_manager")],
    "0.16": [(REFERENCE, "test_0_16_record_gradients")],
    "0.18": [("parallel/test_functions.py", "test_weights_make_up_for_shards_of_unlike_size")],
    "0.19": [("amp/test_autocasting.py", "test_master_weights_of_a_model_in_half_precision")],
    "1.5": [(EXAMPLES, "heat_inverse.py"), (EXAMPLES, "greeks.py"), (EXAMPLES, "hidden_states.py")],
    "1.21": [(REFERENCE, "test_1_21_my_relu"), (REFERENCE, "test_1_21_and_4_12_what_pytorch_calls_them")],
    "2.2": [("nn/test_models.py", "132_863_336")],
    "2.5": [("nn/test_functional.py", "test_cross_entropy")],
    "3.1": [(REFERENCE, "test_3_1_batches_of_gradients")],
    "3.3": [(REFERENCE, "test_3_3_a_jacobian_is_one_sweep")],
    "4.7": [(REFERENCE, "test_4_7_retain_grad_is_of_the_tensor_as_it_was_left")],
    "4.12": [(REFERENCE, "test_4_12_shapes"), (REFERENCE, "test_1_21_and_4_12_at_kinks_and_far_out")],
    "4.16": [(REFERENCE, "test_4_16_says_where_y_was_made_without_gradient")],
    "4.18": [(REFERENCE, "test_4_18_what_hooks_return_has_the_form_of_what_they_are_given")],
    "4.21": [(REFERENCE, "test_4_21_what_is_set_as_a_gradient_has_the_form_of_its_tensor")],
    "4.26": [("nn/test_training.py", "test_two_moons_in_both_forms")],
    "4.28": [(REFERENCE, "test_4_28_gradcheck_names_the_wrong_operation_not_the_last")],
    "4.32": [
        ("../README.md", tip) for tip in ("Give many samples at once", "`tx.no_grad()`: nothing", "Clear gradients")
    ],
}
"""The files of tests, or of documentation that is run as a test, and the test, example or piece of text in them."""


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_shown(row: str) -> None:
    for path, what in ROWS[row]:
        text = (TESTS / path).read_text()
        assert re.search(rf"^def {what}\(", text, re.MULTILINE) if what.startswith("test_") else what in text
        assert not what.endswith(".py") or (TESTS.parent / "examples" / what).exists()
