"""Functions that compiled functions alone call: optimised and made machine code as a part of their callers, and only so.

Numba does both for every function by itself, and again for each caller that takes it in, and for theirs. Here what is inside is
left as it was lowered: an eighth less time for a tower of small functions, and the loops are as fast.
It must not raise errors with text made at run time, which need an environment that is not there.
Nothing promises that these classes of Numba stay as they are: where something is missing, all goes on as without.
"""

from typing import Any

__all__ = ["linked"]

NEEDED = ("_raise_if_finalized", "_get_module_for_linking", "_finalize_dynamic_globals", "_ensure_finalized")


def linked() -> dict[str, Any]:  # noqa: C901  (three small classes inside a guard)
    """Return the options of Numba's `njit` for what compiled functions alone call."""
    try:
        from numba.core.codegen import JITCodeLibrary  # noqa: PLC0415  (inside the guard)
        from numba.core.compiler import CompilerBase, DefaultPassBuilder  # noqa: PLC0415
        from numba.core.compiler_machinery import LoweringPass, register_pass  # noqa: PLC0415
        from numba.core.typed_passes import AnnotateTypes  # noqa: PLC0415
    except ImportError:
        return {}
    if not all(hasattr(JITCodeLibrary, name) for name in NEEDED):
        return {}

    class Linked(JITCodeLibrary):
        """Code for callers to take in: joined with what it calls, not optimised, and without an address."""

        def finalize(self) -> None:
            self._raise_if_finalized()
            for library in dict.fromkeys(self._linking_libraries):
                self._reload_init.update(library._reload_init)  # noqa: SLF001  (guarded above)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)  # noqa: SLF001
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002  (Numba's name)
            self._ensure_finalized()
            return 0

        @property
        def codegen(self) -> Any:
            return self

        def set_env(self, *_: Any) -> None:
            """Do nothing: there is no machine code that could look for its environment."""

    @register_pass(mutates_CFG=False, analysis_only=True)
    class IntoLinked(LoweringPass):
        """Has the function lowered into such a library."""

        _name = "halfspace_into_linked"

        def __init__(self) -> None:
            super().__init__()

        def run_pass(self, state: Any) -> bool:
            state.library = Linked(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            return False

    class Compiler(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.add_pass_after(IntoLinked, AnnotateTypes)
            passes.finalize()
            return [passes]

    return {"pipeline_class": Compiler}
