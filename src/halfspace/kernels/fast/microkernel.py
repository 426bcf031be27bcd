"""A register-blocked product of two panels of rows, the one place where this package writes machine instructions by hand.

A kernel machine spends most of its time in inner products of rows with rows. BLAS is as fast as the processor when the inner
dimension is large, but for the 10 to 100 columns of a table it spends most of its time packing, and its result goes through
memory before an exponential can be taken. Here the product of 6 rows with 16 columns (8 in double
precision) stays in twelve vector registers while the inner dimension goes by, and lands in a tile that stays in cache.

Loops in Python syntax cannot say "keep these twelve vectors in registers", so the loop body is emitted as LLVM instructions:
vector multiply and add, which every processor has, fused where it can. `benchmarks/kernel_matrix.py` measures what it buys.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["ROWS", "columns_of", "panel_product"]

ROWS = 6
"""Rows of the left panel: with two vectors of columns each they fill twelve of sixteen registers."""
FLAGS = ("contract", "nnan", "ninf", "nsz", "arcp")


def columns_of(itemsize: int) -> int:
    """Return the columns of the right panel: two vectors of 32 bytes."""
    return 64 // itemsize


class _Emitter:
    """Writes the instructions of one panel product."""

    def __init__(self, builder: Any, scalar: Any, lanes: int) -> None:
        self.builder, self.scalar, self.lanes = builder, scalar, lanes
        self.vector = ir.VectorType(scalar, lanes)
        self.count, self.half = ir.IntType(64), ir.IntType(32)
        self.zero = ir.Constant(self.vector, [ir.Constant(scalar, 0.0)] * lanes)

    def at(self, pointer: Any, offset: Any) -> Any:
        """Point to a vector, which need not be aligned."""
        return self.builder.bitcast(self.builder.gep(pointer, [offset]), self.vector.as_pointer())

    def load(self, pointer: Any, offset: Any) -> Any:
        """Read a vector."""
        vector = self.builder.load(self.at(pointer, offset), typ=self.vector)
        vector.align = 4
        return vector

    def broadcast(self, pointer: Any, offset: Any) -> Any:
        """Read one number into every lane."""
        number = self.builder.load(self.builder.gep(pointer, [offset]), typ=self.scalar)
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, number, self.half(0))
        everywhere = ir.Constant(ir.VectorType(self.half, self.lanes), [self.half(0)] * self.lanes)
        return self.builder.shuffle_vector(first, undefined, everywhere)

    def product(self, left: Any, right: Any, d: Any) -> list[Any]:
        """Loop over the inner dimension; return the twelve sums."""
        builder, start = self.builder, self.builder.block
        loop, done = builder.append_basic_block("inner"), builder.append_basic_block("done")
        builder.cbranch(builder.icmp_signed(">", d, self.count(0)), loop, done)
        builder.position_at_end(loop)
        k = builder.phi(self.count)
        k.add_incoming(self.count(0), start)
        sums = [builder.phi(self.vector) for _ in range(2 * ROWS)]
        at_left, at_right = builder.mul(k, self.count(ROWS)), builder.mul(k, self.count(2 * self.lanes))
        columns = [self.load(right, builder.add(at_right, self.count(c * self.lanes))) for c in range(2)]
        further = []
        for r in range(ROWS):
            row = self.broadcast(left, builder.add(at_left, self.count(r)))
            for c in range(2):
                term = builder.fmul(row, columns[c], flags=FLAGS)
                further.append(builder.fadd(sums[2 * r + c], term, flags=FLAGS))
        following = builder.add(k, self.count(1))
        k.add_incoming(following, loop)
        for before, after in zip(sums, further, strict=True):
            before.add_incoming(self.zero, start)
            before.add_incoming(after, loop)
        builder.cbranch(builder.icmp_signed("<", following, d), loop, done)
        builder.position_at_end(done)
        totals = [builder.phi(self.vector) for _ in further]
        for total, after in zip(totals, further, strict=True):
            total.add_incoming(self.zero, start)
            total.add_incoming(after, loop)
        return totals

    def store(self, totals: list[Any], out: Any, stride: Any) -> None:
        """Write the sums, row by row."""
        for r in range(ROWS):
            for c in range(2):
                offset = self.builder.add(self.builder.mul(stride, self.count(r)), self.count(c * self.lanes))
                self.builder.store(totals[2 * r + c], self.at(out, offset)).align = 4


@intrinsic
def _product(
    _context: Any, left: Any, left_at: Any, right: Any, right_at: Any, d: Any, out: Any, out_at: Any, stride: Any
) -> Any:
    """Multiply a left panel, (d, 6) at `left[left_at:]`, with a right one, (d, columns), into rows `stride` apart in `out`."""
    positions = (types.intp,) * 5
    signature = types.void(left, positions[0], right, positions[1], positions[2], out, positions[3], positions[4])

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def pointer(which: int) -> Any:
            array = context.make_array(signature.args[which])(context, builder, args[which])
            return builder.gep(array.data, [args[which + 1]] if which < 5 else [args[6]])

        scalar = ir.FloatType() if left.dtype == types.float32 else ir.DoubleType()
        emitter = _Emitter(builder, scalar, 8 if left.dtype == types.float32 else 4)
        totals = emitter.product(pointer(0), pointer(2), args[4])
        emitter.store(totals, pointer(5), args[7])
        return context.get_dummy_value()

    return signature, emit


panel_product: Any = _product
"""The compiled product: `panel_product(left, left_at, right, right_at, d, out, out_at, stride)`."""
