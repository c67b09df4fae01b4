/* What a linear layer in 8-bit integers does before and after its product of integers: each in one pass over the rows,
 * where torch has a pass for every operation. `int8_linear.py` has these operations and remains the definition: the
 * numbers here are the same to the last bit, so this file is compiled without joining products and sums into one
 * operation, which rounds once instead of twice (-ffp-contract=off).
 */

#include <stdint.h>
#include <string.h>

/* One file for old processors and new ones: the loader of glibc picks what this one can do. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_CPU
#endif
#define INLINE static inline __attribute__((always_inline))

/* As in `int8_linear.py` */
static const float LARGEST = 127, FINER = 254, TINY = 1e-30f;
/* Added to a number below 2^22, it leaves no bits for a fraction: the sum is rounded, half to even, and its last byte is
 * that of the whole number. What is no number has 0 there. */
static const float ROUNDS = 3 << 22;

/* The checksum of this file, by which a library is known that was built from another. */
const uint32_t built_from = BUILT_FROM;

INLINE int32_t bits_of(float number)
{
    int32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Bits of floats without their sign are in order, and above all of them those of what is no number. */
INLINE float scale_of(const float *row, int64_t inputs)
{
    int32_t most = 0;
    for (int64_t i = 0; i < inputs; i++) {
        int32_t bits = bits_of(row[i]) & INT32_MAX;
        most = bits > most ? bits : most;
    }
    float scale;
    memcpy(&scale, &most, sizeof scale);
    scale /= LARGEST;
    return scale < TINY ? TINY : scale;
}

/* Rows [n, inputs], each so many floats after the one before, to scales [n] and digits [n, inputs]; to second digits,
 * too, if there is a place for them. */
FOR_EACH_CPU void to_digits(
    const float *rows, int64_t stride, int64_t n, int64_t inputs, float *scales, int8_t *restrict first,
    int8_t *restrict second)
{
    for (int64_t r = 0; r < n; r++, rows += stride, first += inputs) {
        float scale = scales[r] = scale_of(rows, inputs);
        if (!second) {
            for (int64_t i = 0; i < inputs; i++)
                first[i] = (int8_t)bits_of(rows[i] / scale + ROUNDS);
            continue;
        }
        for (int64_t i = 0; i < inputs; i++) {
            float number = rows[i] / scale, rounded = number + ROUNDS;
            first[i] = (int8_t)bits_of(rounded);
            second[i] = (int8_t)bits_of((number - (rounded - ROUNDS)) * FINER + ROUNDS);
        }
        second += inputs;
    }
}

INLINE void row_to_floats(
    const int32_t *first, const int32_t *second, int64_t outputs, float scale, const float *scales, const float *bias,
    float *restrict y)
{
    for (int64_t i = 0; i < outputs; i++) {
        float sum = (float)first[i];
        if (second)
            sum += (float)second[i] * (1 / FINER);
        sum = sum * scale * scales[i];
        y[i] = bias ? sum + bias[i] : sum;
    }
}

/* Products of the digits [n, outputs], those of second digits where there are any, to floats. */
FOR_EACH_CPU void to_floats(
    const int32_t *first, const int32_t *second, int64_t n, int64_t outputs, const float *row_scales,
    const float *scales, const float *bias, float *y)
{
    for (int64_t r = 0; r < n; r++, first += outputs, y += outputs) {
        if (second && bias)
            row_to_floats(first, second, outputs, row_scales[r], scales, bias, y);
        else if (second)
            row_to_floats(first, second, outputs, row_scales[r], scales, NULL, y);
        else if (bias)
            row_to_floats(first, NULL, outputs, row_scales[r], scales, bias, y);
        else
            row_to_floats(first, NULL, outputs, row_scales[r], scales, NULL, y);
        second = second ? second + outputs : NULL;
    }
}
