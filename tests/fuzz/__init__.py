"""The fuzzer: mutants of everything that is read from outside, made from a seed, in a process of limited memory and time.

`make fuzz SECONDS=3600` tries as many mutants of every target as fit; the tests beside this file try a fixed number of them. A
mutant must be used or end in an error of ours. One that does neither is printed with its seed and kept as a file, which
`python -m fuzz --replay FILE` (with `tests` on the path) tries again.
"""
