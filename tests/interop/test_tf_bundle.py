"""Does the TensorFlow checkpoint reader return what was written, and refuse what is damaged?"""

from pathlib import Path

import numpy as np
import pytest

from interop.bundle_writer import (
    Compress,
    Tensors,
    bert_like,
    entry,
    every_dtype,
    header,
    literal,
    write_bundle,
    write_table,
)
from litebert.interop import crc32c as crc_module
from litebert.interop import tf_bundle
from litebert.interop.crc32c import crc32c, masked, unmask
from litebert.interop.tf_bundle import BundleError, find_prefix, read_index, read_tensor

NO_TENSORFLOW = "tensorflow is not installed: nothing independent to compare the reader and the writer with"


def read_all(prefix: Path) -> Tensors:
    """Return every tensor of a bundle."""
    return {name: read_tensor(prefix, found) for name, found in read_index(prefix).items()}


def assert_same(read: Tensors, wanted: Tensors) -> None:
    """Compare names, types, shapes and every byte."""
    assert sorted(read) == sorted(wanted)
    for name, tensor in wanted.items():
        assert (read[name].dtype, read[name].shape) == (tensor.dtype, tensor.shape), name
        assert read[name].tobytes() == tensor.tobytes(), name


def one_entry(folder: Path, message: bytes, head: bytes | None = None) -> Path:
    """Write a bundle of one tensor `weights` with the given messages, and 8 bytes of data."""
    (folder / "model.data-00000-of-00001").write_bytes(bytes(8))
    write_table(folder / "model.index", [(b"", header(1) if head is None else head), (b"weights", message)])
    return folder / "model"


def flipped(data: bytes, bit: int) -> bytes:
    """Return `data` with one bit changed."""
    return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]


def bitwise_crc(data: bytes) -> int:
    """Return the CRC-32C one bit at a time."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def test_crc_of_known_data() -> None:
    assert (crc32c(b""), crc32c(b"123456789")) == (0, 0xE3069283)
    # RFC 3720, appendix B.4
    assert (crc32c(bytes(32)), crc32c(b"\xff" * 32)) == (0x8A9136AA, 0x62A8AB43)
    assert (crc32c(bytes(range(32))), crc32c(bytes(range(31, -1, -1)))) == (0x46DD794E, 0x113FDB5C)
    for crc in (0, 1, 0xE3069283, 0xFFFFFFFF):
        assert unmask(masked(crc)) == crc != masked(crc)


def test_crc_equals_the_bitwise_one_at_every_block_width() -> None:
    data = np.random.default_rng(2).integers(0, 256, 40_000, np.uint8).tobytes()
    for size in [*range(400), 2000, 3071, 3072, 3073, 3080, 24_577, 30_001, len(data)]:
        assert crc32c(data[:size]) == bitwise_crc(data[:size]), size


def test_crc_of_chunks_equals_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng(3).integers(0, 256, 2_000_003, np.uint8)
    whole = crc32c(data)
    for chunk in (1003, 65_536, 1 << 20):
        monkeypatch.setattr(crc_module, "_CHUNK", chunk)
        assert crc32c(data) == whole, chunk


def test_crc_takes_arrays_and_views_in_c_order() -> None:
    array = np.random.default_rng(4).standard_normal((6, 8)).astype(np.float32)
    assert crc32c(array.T) == crc32c(array.T.tobytes()) != crc32c(array)
    assert crc32c(memoryview(array.tobytes())[3:50]) == crc32c(array.tobytes()[3:50])


@pytest.mark.parametrize("shards", [1, 3])
def test_round_trip(tmp_path: Path, shards: int) -> None:
    tensors = bert_like() | every_dtype()
    write_bundle(tmp_path / "model.ckpt-7", tensors, shards)
    assert_same(read_all(tmp_path / "model.ckpt-7"), tensors)


def test_a_tensor_read_is_ours_to_change(tmp_path: Path) -> None:
    write_bundle(tmp_path / "model", {"a": np.ones(1, np.int8), "b": np.ones(4, np.float64)})
    read = read_tensor(tmp_path / "model", read_index(tmp_path / "model")["b"])
    assert (read.flags.writeable, read.flags.aligned, read.flags.c_contiguous) == (True, True, True)
    read += 1
    assert read_all(tmp_path / "model")["b"].tolist() == [1] * 4


@pytest.mark.parametrize("block_size, compress", [(1, None), (200, literal), (1 << 20, literal), (1 << 20, None)])
def test_every_entry_is_found_whatever_the_blocks(tmp_path: Path, block_size: int, compress: Compress | None) -> None:
    pairs = [(f"layer_{i:04d}/bias".encode(), entry(1, (2,), 0, 8 * i, 8, i)) for i in range(300)]
    write_table(tmp_path / "model.index", [(b"", header(1)), *pairs], block_size, compress)
    found = [(f.name, f.offset, f.crc) for f in read_index(tmp_path / "model").values()]
    assert found == [(f"layer_{i:04d}/bias", 8 * i, i) for i in range(300)]


def test_strings_are_left_out_and_bfloat16_is_widened(tmp_path: Path) -> None:
    assert read_index(one_entry(tmp_path, entry(7, (), 0, 0, 8, 0))) == {}
    raw = np.array([0x3F80, 0xC020, 0x0000, 0x7F80], "<u2").tobytes()
    prefix = one_entry(tmp_path, entry(14, (2, 2), 0, 0, 8, crc32c(raw)))
    prefix.with_name("model.data-00000-of-00001").write_bytes(raw)
    assert_same(read_all(prefix), {"weights": np.array([[1, -2.5], [0, np.inf]], np.float32)})


LONG = bytes(range(256)) * 2
LITERAL = b"\xf4\xff\x01" + LONG


@pytest.mark.parametrize(
    "stream, content",
    [
        (b"\x00", b""),
        (b"\x05\x10abcde", b"abcde"),
        (b"\x3e\xf0\x3d" + LONG[:62], LONG[:62]),
        (b"\x0a\x00a\x15\x01", b"a" * 10),  # a copy that overlaps what it writes
        (b"\x08\x0cabcd\x0e\x03\x00", b"abcdbcdb"),
        (b"\x84\x04" + LITERAL + b"\x21\x2c", LONG + LONG[212:216]),  # 300 back, in 3 + 8 bits
        (b"\xc0\x04" + LITERAL + b"\xfe\xff\x01", LONG + LONG[1:65]),
        (b"\x81\x04" + LITERAL + b"\x03\x00\x02\x00\x00", LONG + LONG[:1]),
        (b"\x09\x00a\x11\x02", "reaches back 2 of 1"),
        (b"\x09\x00a", "holds 1 bytes instead of 9"),
        (b"\x02\x08a", "holds 1 bytes instead of 2"),
    ],
)
def test_snappy_stream(tmp_path: Path, stream: bytes, content: bytes | str) -> None:
    if isinstance(content, bytes):
        assert tf_bundle._unsnappy(stream) == content
        return
    write_table(tmp_path / "model.index", [(b"", header(1))], compress=lambda block: stream)
    with pytest.raises(BundleError, match=r"model\.index: .*" + content):
        read_index(tmp_path / "model")


def test_find_prefix_of_files_and_folders(tmp_path: Path) -> None:
    prefix = tmp_path / "model.ckpt-1"
    write_bundle(prefix, {"a": np.zeros(2)}, shards=2)
    for name in ("model.ckpt-1", "model.ckpt-1.index", "model.ckpt-1.data-00001-of-00002", "."):
        assert find_prefix(tmp_path / name) == prefix, name
    write_bundle(tmp_path / "model.ckpt-2", {"a": np.zeros(2)})
    with pytest.raises(BundleError, match=r"2 checkpoints \(model\.ckpt-1, model\.ckpt-2\)"):
        find_prefix(tmp_path)
    for named in ("model.ckpt-1", "/elsewhere/model.ckpt-1"):
        text = f'model_checkpoint_path: "{named}"\nall_model_checkpoint_paths: "model.ckpt-2"\n'
        (tmp_path / "checkpoint").write_text(text)
        assert find_prefix(tmp_path) == prefix


@pytest.mark.parametrize(
    "name, message",
    [
        ("old.ckpt", "old V1 checkpoint"),
        ("notes.txt", "not a TensorFlow V2 checkpoint"),
        ("half", r"half\.index: not found"),
        ("half.data-00000-of-00001", r"half\.index: not found"),
        ("absent", "no such file"),
        (".", "holds no .index file"),
    ],
)
def test_find_prefix_refuses(tmp_path: Path, name: str, message: str) -> None:
    write_table(tmp_path / "old.ckpt", [(b"", b"")])
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "half.data-00000-of-00001").write_bytes(b"")
    with pytest.raises(BundleError, match=message):
        find_prefix(tmp_path / name)


@pytest.mark.parametrize(
    "message, head, error",
    [
        (entry(1, (2,), 0, 0, 8, 0, sliced=True), None, "'weights' is sliced"),
        (entry(20, (2,), 0, 0, 8, 0), None, "'weights' has TensorFlow dtype 20"),
        (entry(1, (3,), 0, 0, 8, 0), None, r"'weights' of shape \(3,\) needs 12 bytes, but the index says 8"),
        (entry(1, (-1,), 0, 0, 8, 0), None, "'weights' has no known shape"),
        (entry(1, (2,), 1, 0, 8, 0), None, "'weights' lies in data file 1, but there are 1"),
        (entry(1, (2,), 0, 0, 8, 0), header(1, endianness=1), "big-endian"),
        (entry(1, (2,), 0, 0, 8, 0), b"", "gives no number of data files"),
        (entry(1, (2,), 0, 0, 8, 0), b"\x0a\x01x", "field 1 is not a number"),
        (b"\x08\x01\x10\x05", None, "field 2 is not a message"),
        (b"\x12\x05x", None, "field 2 runs past"),
        (b"\x0b", None, "wire type 3"),
        (b"\x08" + b"\xff" * 11, None, "does not end"),
    ],
)
def test_index_refuses(tmp_path: Path, message: bytes, head: bytes | None, error: str) -> None:
    with pytest.raises(BundleError, match=r"model\.index: .*" + error):
        read_index(one_entry(tmp_path, message, head))


def test_tensor_refuses(tmp_path: Path) -> None:
    prefix = one_entry(tmp_path, entry(1, (2,), 0, 4, 8, 0))
    with pytest.raises(BundleError, match=r"00001: tensor 'weights' ends at byte 12, but the file holds 8 bytes"):
        read_tensor(prefix, read_index(prefix)["weights"])
    prefix.with_name("model.data-00000-of-00001").unlink()
    with pytest.raises(BundleError, match=r"data-00000-of-00001: tensor 'weights' .* missing"):
        read_tensor(prefix, read_index(prefix)["weights"])
    with pytest.raises(BundleError, match=r"absent\.index: not found"):
        read_index(tmp_path / "absent")


def test_a_cut_index_is_refused(tmp_path: Path) -> None:
    write_bundle(tmp_path / "model", bert_like(1, 2))
    whole = (tmp_path / "model.index").read_bytes()
    for size in range(0, len(whole), 37):
        for cut in (whole[:size], whole[len(whole) - size :]):
            (tmp_path / "model.index").write_bytes(cut)
            with pytest.raises(BundleError, match=r"model\.index: .*copy or download it again"):
                read_index(tmp_path / "model")


def test_a_flipped_bit_of_the_index_is_refused_or_harmless(tmp_path: Path) -> None:
    write_bundle(tmp_path / "model", bert_like(1, 2))
    whole, wanted = (tmp_path / "model.index").read_bytes(), read_index(tmp_path / "model")
    refused = 0
    for bit in np.random.default_rng(5).integers(0, 8 * len(whole), 300).tolist():
        (tmp_path / "model.index").write_bytes(flipped(whole, bit))
        try:
            assert read_index(tmp_path / "model") == wanted, bit
        except BundleError:
            refused += 1
    assert refused > 280  # the rest is padding of the footer, and the metaindex, which is not used


def test_a_flipped_bit_of_the_data_is_found(tmp_path: Path) -> None:
    prefix, rng = tmp_path / "model", np.random.default_rng(6)
    write_bundle(prefix, {"weights": rng.standard_normal((64, 80)).astype(np.float32)})
    found, path = read_index(prefix)["weights"], tmp_path / "model.data-00000-of-00001"
    whole = path.read_bytes()
    for bit in rng.integers(0, 8 * len(whole), 100).tolist():
        path.write_bytes(flipped(whole, bit))
        with pytest.raises(BundleError, match=r"data-00000-of-00001: tensor 'weights' has CRC-32C"):
            read_tensor(prefix, found)
        assert read_tensor(prefix, found, verify=False).tobytes() == flipped(whole, bit)


def test_tensorflow_reads_what_the_writer_writes(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow", reason=NO_TENSORFLOW)
    tensors = bert_like(layers=12) | every_dtype()
    write_bundle(tmp_path / "model", tensors, shards=2)
    reader = tf.train.load_checkpoint(str(tmp_path / "model"))
    assert_same({name: np.asarray(reader.get_tensor(name)) for name in reader.get_variable_to_shape_map()}, tensors)


def test_we_read_what_a_tensorflow_saver_writes(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow", reason=NO_TENSORFLOW)
    tensors = bert_like(layers=12)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for name, value in tensors.items():
            tf.compat.v1.get_variable(name, initializer=value, use_resource=False)
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, str(tmp_path / "model.ckpt"), global_step=9)
    assert find_prefix(tmp_path) == tmp_path / "model.ckpt-9"
    assert_same(read_all(find_prefix(tmp_path)), tensors)


def test_we_read_what_a_tensorflow_checkpoint_writes(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow", reason=NO_TENSORFLOW)
    values = np.arange(12, dtype=np.float32).reshape(3, 4) / 8  # exact in bfloat16
    wanted = {"full": values, "half": values, "step": np.array(3), "save_counter": np.array(1)}
    half, step = tf.Variable(tf.cast(values, tf.bfloat16)), tf.Variable(3, dtype=tf.int64)
    tf.train.Checkpoint(full=tf.Variable(values), half=half, step=step).save(tmp_path / "tf2")
    read = {name.split("/")[0]: tensor for name, tensor in read_all(find_prefix(tmp_path)).items()}
    assert_same(read, wanted)  # and the string _CHECKPOINTABLE_OBJECT_GRAPH is left out


def test_we_read_many_index_blocks_of_tensorflow(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow", reason=NO_TENSORFLOW)
    tensors = {f"model/layer_{i:05d}/a_rather_long_variable_name": np.array([i, i + 1]) for i in range(12_000)}
    tf.raw_ops.SaveV2(
        prefix=str(tmp_path / "many"),
        tensor_names=list(tensors),
        shape_and_slices=[""] * len(tensors),
        tensors=list(tensors.values()),
    )
    assert (tmp_path / "many.index").stat().st_size > 2 * 262_144  # TensorFlow's block size
    assert_same(read_all(tmp_path / "many"), tensors)


def test_we_refuse_slices_of_tensorflow(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow", reason=NO_TENSORFLOW)
    prefix, half = tmp_path / "model", np.ones((2, 2))
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=["w"], shape_and_slices=["4 2 0,2:-"], tensors=[half])
    with pytest.raises(BundleError, match="tensor 'w' is sliced"):
        read_index(prefix)
