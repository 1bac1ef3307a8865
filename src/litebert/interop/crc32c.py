"""How is the CRC-32C of a large buffer computed with numpy alone?

A CRC is the remainder of the message, read as a polynomial over GF(2), divided by P. Squaring over GF(2) squares
every term, so P(x) ** (2 ** k) == P(x ** (2 ** k)): a multiple of P whose few terms lie 2 ** k bits apart. Long
division by it moves whole blocks of 2 ** k bits by plain XOR, leaving 32 blocks with the same remainder as all of the
data. Repeating that with ever smaller blocks leaves a few hundred bytes for the usual byte table.
"""

import numpy as np
import numpy.typing as npt

_ALL_ONES = 0xFFFFFFFF
_POLYNOMIAL = 0x1EDC6F41  # Castagnoli, x**32 left out
_REFLECTED = 0x82F63B78  # the same, lowest bit first, as the byte table needs it
_DEGREE = 32

# Term x**e of P sends a leading block 32 - e blocks down the data; the nearest is 4 away, so 4 rows move at once.
_TAPS = [_DEGREE - exponent for exponent in range(_DEGREE) if _POLYNOMIAL >> exponent & 1]
_ROWS = min(_TAPS)

_CHUNK = 8 << 20  # bytes copied at a time; the copy is what division overwrites
_WIDTHS = (32768, 4096, 512, 64, 8)  # bytes in one block, each a power of two; the widest keeps 36 blocks in cache
_WORTHWHILE = 48  # blocks: below this, division would remove too little

_MASK_DELTA = 0xA282EAD8  # LevelDB's and TFRecord's constant


def _byte_table() -> list[int]:
    """Return the CRC register after each single byte value."""
    table = []
    for value in range(256):
        register = value
        for _ in range(8):
            register = register >> 1 ^ (_REFLECTED if register & 1 else 0)
        table.append(register)
    return table


_TABLE = _byte_table()


def crc32c(data: bytes | memoryview | npt.NDArray[np.generic]) -> int:
    """Return the CRC-32C (Castagnoli) of the bytes of `data`, in C order for an array."""
    array = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    register = _ALL_ONES
    for start in range(0, raw.size, _CHUNK):
        register = _advance(register, raw[start : start + _CHUNK])
    return register ^ _ALL_ONES


def masked(crc: int) -> int:
    """Return `crc` as LevelDB tables and TensorFlow bundles store it."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ALL_ONES


def unmask(stored: int) -> int:
    """Return the plain CRC of a stored masked one."""
    rotated = (stored - _MASK_DELTA) & _ALL_ONES
    return (rotated >> 17 | rotated << 15) & _ALL_ONES


def _advance(register: int, chunk: npt.NDArray[np.uint8]) -> int:
    """Return the CRC register after the bytes of `chunk`."""
    for width in _WIDTHS:
        if chunk.size > _WORTHWHILE * width:
            chunk = _divide(register, chunk, width)
            register = 0
    for byte in chunk.tolist():
        register = _TABLE[(register ^ byte) & 255] ^ register >> 8
    return register


def _divide(register: int, chunk: npt.NDArray[np.uint8], width: int) -> npt.NDArray[np.uint8]:
    """Return 32 blocks of `width` bytes that take a zero register where `chunk` takes `register`."""
    steps = -(-chunk.size // width) - _DEGREE
    steps += -steps % _ROWS
    raw = np.zeros((steps + _DEGREE) * width, np.uint8)
    message = raw[raw.size - chunk.size :]  # zeros in front of the message leave a zero register at zero
    message[:] = chunk
    message[:4] ^= np.frombuffer(register.to_bytes(4, "little"), np.uint8)
    blocks = raw.view(np.uint64).reshape(steps + _DEGREE, -1)
    for row in range(0, steps, _ROWS):
        for tap in _TAPS:
            target = blocks[row + tap : row + tap + _ROWS]
            np.bitwise_xor(target, blocks[row : row + _ROWS], out=target)
    return raw[steps * width :]
