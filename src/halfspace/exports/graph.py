"""A computation written down node by node: the little of ONNX that the models of this package need.

Every number is a double. The operators are standard ones of opset 18, each of which onnxruntime computes in double precision.
"""

from typing import Any

import numpy as np

from halfspace.errors import InputError

__all__ = ["OPSET", "Graph"]

OPSET = 18
"""Version of the standard operators: the first where all reductions take their axes as an input."""
FORMAT = 8
"""Version of the file format, as old as the operators allow, so that older runtimes read it."""


class Graph:
    """Nodes and constants of a graph that grows by calls: `graph("Add", a, 1.0)` returns the name of the sum.

    Arguments are names of tensors, or numbers and arrays, which become constants.
    """

    def __init__(self) -> None:
        try:
            import onnx  # noqa: PLC0415  (an extra: imported only when a model is exported)
        except ImportError as error:
            msg = 'hs.to_onnx needs the package onnx: pip install "halfspace[onnx]"'
            raise ImportError(msg) from error
        self.onnx: Any = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.named = 0

    def __call__(self, operator: str, *arguments: Any, **attributes: Any) -> str:
        """Add a node and return the name of its first output."""
        inputs = [value if isinstance(value, str) else self.constant(value) for value in arguments]
        name = self._name(operator)
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [name], name, **attributes))
        return name

    def second(self, operator: str, *arguments: Any, **attributes: Any) -> str:
        """Add a node and return the name of its second output."""
        self(operator, *arguments, **attributes)
        self.nodes[-1].output.append(self._name(operator))
        return str(self.nodes[-1].output[1])

    def constant(self, value: Any) -> str:
        """Keep a number or an array: floats as doubles, whole numbers as int64, words and switches as they are."""
        array = np.asarray(value)
        kinds = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_, "U": np.object_, "O": np.object_}
        name = self._name("constant")
        kept: Any = np.ascontiguousarray(array.astype(kinds[array.dtype.kind])).reshape(array.shape)
        self.constants.append(self.onnx.numpy_helper.from_array(kept, name))
        return name

    def sum(self, name: str, operator: str = "ReduceSum") -> str:
        """Reduce every row to one number, shape (n, 1)."""
        return self(operator, name, np.array([1]), keepdims=1)

    def label(self, numbers: str, classes: Any) -> str:
        """Return the labels of class numbers, shape (n,)."""
        classes = np.asarray(classes)
        words = classes.dtype.kind == "O" and all(isinstance(label, str) for label in classes.tolist())
        if classes.dtype.kind not in "fiubU" and not words:
            msg = f"to_onnx: labels must be numbers, strings or bools; got {classes.tolist()[:3]!r} and the like."
            raise InputError(msg)
        return self("Gather", classes, numbers, axis=0)

    def each_row(self, rows: str, width: int, support: Any, *, squared: bool = True) -> str:
        """Return ‖x_i - s_j‖², shape (n, m), from differences, one row of X after the other: exact also for close pairs.

        If not `squared`, the sums of absolute differences.
        """
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        held, axis = self.constant(support), self.constant(np.array([1]))
        inside, out = self._name("row"), self._name("squares")
        work = [helper.make_node("Sub", [held, inside], ["difference"])]
        if squared:
            work.append(helper.make_node("ReduceSumSquare", ["difference", axis], [out], keepdims=0))
        else:
            work.append(helper.make_node("Abs", ["difference"], ["gap"]))
            work.append(helper.make_node("ReduceSum", ["gap", axis], [out], keepdims=0))
        taken = [helper.make_tensor_value_info(inside, double, [width])]
        given = [helper.make_tensor_value_info(out, double, [support.shape[0]])]
        return self("Scan", rows, num_scan_inputs=1, body=helper.make_graph(work, "distances", taken, given))

    def running_votes(self, products: str, log: Any, votes: Any, problems: int) -> str:
        """Return votes for minus votes against, shape (n, problems), of all weights that a perceptron ever had.

        The outputs of its weight vectors are running sums of `products` (n, m) over the `log` of its mistakes: problem k, row
        and change of each. `votes` says how many examples each weight vector survived.
        """
        columns = []
        for k in range(problems):
            mine = np.flatnonzero(log.k == k)
            steps = self("Mul", self("Gather", products, log.row[mine], axis=1), log.change[mine])
            right = self("Greater", self("CumSum", steps, np.array(1)), 0.0)
            columns.append(self.sum(self("Where", right, votes[mine], -votes[mine])))
        return self("Concat", *columns, axis=1)

    def model(self, width: int, outputs: dict[str, tuple[str, list[Any], Any]], about: str) -> Any:
        """Return the model that reads X, shape (rows, width), and gives the outputs: tensor, shape and element type by name."""
        helper, given = self.onnx.helper, []
        kinds = {"f": "DOUBLE", "i": "INT64", "u": "INT64", "b": "BOOL", "U": "STRING", "O": "STRING"}
        for name, (tensor, shape, like) in outputs.items():
            self.nodes.append(helper.make_node("Identity", [tensor], [name], name))
            kind = getattr(self.onnx.TensorProto, kinds[np.asarray(like).dtype.kind])
            given.append(helper.make_tensor_value_info(name, kind, shape))
        X = helper.make_tensor_value_info("X", self.onnx.TensorProto.DOUBLE, ["rows", width])
        graph = helper.make_graph(self.nodes, "halfspace", [X], given, self.constants, doc_string=about)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="halfspace")
        model.ir_version = FORMAT
        self.onnx.checker.check_model(model, full_check=True)
        return model

    def _name(self, kind: str) -> str:
        """Return a name that no other tensor has."""
        self.named += 1
        return f"{kind}_{self.named}"
