// Exact closeness written as words, most significant first, by which many numbers of one query are sorted in bulk.
//
//     key = {exponent, leading bits, next bits, ...}     of |a|, or of |a|·u with u near 1/√x for cosines
//
// Words of |a| are its bits. Those of a product are off by a few units of the last, and a longer key has to be made where
// keys differ by no more than that; the longest leave it to `compare_ratios`.
#pragma once

#include "exact/wide.h"

namespace deadheat {

/// Words of bits in the next longer key: 1, 7, 17, then all, so that the last one costs more than those before together.
constexpr int longer(int n_bit_word, int most) { return std::min(most, n_bit_word < 7 ? 7 : 5 * n_bit_word / 2); }

/// Error bound of the words of a product without the last 64 of its bits: see `write_ratio`.
constexpr int RATIO_SLACK = 8;

/// The exponent and `n_bit_word` words of leading bits of a number that is not 0.
void write_key(Natural number, int n_bit_word, Limb *words);

/// The same of a number times an inverse root, by n_bit_word + 1 leading limbs of both; all in all off by less than 2 units
/// of the last word down, and 6 up.
void write_ratio(Natural number, Natural inverse, int n_bit_word, Limb *words);

/// −1 or 1 where keys differ by at least `slack` units of the last word, else 0.
int compare_keys(const Limb *a, const Limb *b, int n_bit_word, int slack);

/// Return whether √(x/y) is seen to be a power of two, as where both have the same limbs; b is then multiplied by it, so
/// that a/√x compares with b/√y as a does with b.
bool scale_to_root(Natural x, Natural y, Natural &b);

/// Compare a/√x with b/√y, of positive numbers, by a²·y and b²·x.
int compare_ratios(Natural a, Natural x, Natural b, Natural y);

/// A number in at most so many limbs, at least 2, that is 1/√square up to 2^(1 − 64(limbs − 1)) times itself; the square is
/// not 0.
void inverse_root(Natural square, int limbs, Wide &out);

}  // namespace deadheat
