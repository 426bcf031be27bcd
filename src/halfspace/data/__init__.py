"""Data: toy problems and the catalogue of built-in tables."""

from halfspace.data.toys import Toy, checkerboard, rings, spirals, teacher_student, two_clouds, xor

__all__ = ["Toy", "checkerboard", "rings", "spirals", "teacher_student", "two_clouds", "xor"]
