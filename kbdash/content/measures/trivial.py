"""Which lines say nothing about where a text comes from. This is the only place of the rule.

A line is trivial when
- it holds fewer than `LEAST_LETTERS` letters, digits or underscores (empty, lone brackets, `}  // i`), or
- it is a lone `else:`, `try:`, `pass` or `return`, imports or includes something, or begins with `#!`, or
- it is common: at least `COMMON_USERS` users hold it, or more than `COMMON_SHARE` of the competition's users do, where
  there are enough users for a share to mean something. The dataset does not contain the starter and reference texts;
  their lines are recognised because most users have them.

Every other line is telling. Its weight grows with its rarity: log2(1 + users of the competition / users of the line).
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

COMMON_USERS = 100
COMMON_SHARE = 1 / 3
ENOUGH_USERS = 9
LEAST_LETTERS = 4
# Applied to bytes by RE2.
_SPACE = r"[\t\v\f\r ]"
_EMPTY_WORDS = (
    rf"^{_SPACE}*(?:import{_SPACE}|from{_SPACE}+\S+{_SPACE}+import{_SPACE}|#{_SPACE}*include\b|#!|using{_SPACE}+namespace\b"
    r"|(?:else|try|pass|return)\W*$)"
)
_SCRAP = rf"^(?:\W*\w){{0,{LEAST_LETTERS - 1}}}\W*$"


def common_from(users: int) -> int:
    """The number of users from which a line is common, in a competition of this many users."""
    if users < ENOUGH_USERS:
        return COMMON_USERS
    return min(COMMON_USERS, int(users * COMMON_SHARE) + 1)


def telling_lines(lines: pa.Array, users_of_line: npt.NDArray[np.int32], users: int) -> npt.NDArray[np.bool_]:
    """Which lines are telling."""
    scrap = pc.or_(pc.match_substring_regex(lines, _SCRAP), pc.match_substring_regex(lines, _EMPTY_WORDS))
    own: npt.NDArray[np.bool_] = ~scrap.to_numpy(zero_copy_only=False).astype(bool)
    return own & (users_of_line < common_from(users))


def weights(users_of_line: npt.NDArray[np.int32], users: int) -> npt.NDArray[np.float64]:
    """How much each line weighs, by rarity."""
    answer: npt.NDArray[np.float64] = np.log2(1.0 + users / np.maximum(users_of_line, 1))
    return answer
