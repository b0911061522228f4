"""Named misconceptions of 2.9."""


def _both(fp32, fp16, times):
    return {"fp32": fp32 * times, "fp16": fp16 * times}


def all_errors_add(layer):
    """n errors adding up to n times one, as if none cancelled"""
    return _both(2**-25, 2**-12, 2 * layer)


def one_rounding(layer):
    """one rounding only, whatever the layer"""
    return _both(2**-25, 2**-12, 1)


def once_a_layer(layer):
    """one rounding a layer instead of two"""
    return _both(2**-25, 2**-12, layer**0.5)


def largest_not_typical(layer):
    """every rounding as large as it can be"""
    return _both(2**-24, 2**-11, (2 * layer) ** 0.5)


def every_bit_significant(layer):
    """32 and 16 significant bits: sign and exponent counted too"""
    return _both(2**-33, 2**-17, (2 * layer) ** 0.5)


def half_the_bits_twice_the_error(layer):
    """fp16 only twice as rough as fp32"""
    return _both(2**-25, 2**-24, (2 * layer) ** 0.5)


def both_programs_counted(layer):
    """the roundings of both programs counted: the rule of thumb counts one of them"""
    return _both(2**-25, 2**-12, (4 * layer) ** 0.5)
