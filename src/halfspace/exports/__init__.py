"""Models in the words of others: ONNX, which runs where Python does not."""

from halfspace.exports.onnx_file import to_onnx

__all__ = ["to_onnx"]
