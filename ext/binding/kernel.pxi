# Which kernel of tg_scan the core runs. Part of _core.pyx, which includes this file.
#
# Rules
#  - The core chooses. TRIGATE_SIMD overrules it once, at import; a name that is not here is an ImportError, not
#    a silent second best.


def _kernels():
    """Names of the kernels that this build and this machine have, the slowest first."""
    cdef list names = []
    cdef const char *name = tg_scan_kernel_at(0)
    while name is not NULL:
        names.append(_ascii(name))
        name = tg_scan_kernel_at(len(names))
    return tuple(names)


def _kernel():
    """Name of the kernel in use, by all threads."""
    return _ascii(tg_scan_kernel_name())


def _use_kernel(str name not None, /):
    """Another kernel from now on, for tests: the results are the same."""
    if name not in _kernels():
        raise ValueError(f"no kernel {name!r} here: this build and this machine have {', '.join(_kernels())}")
    tg_scan_use(name.encode())


if _os.environ.get("TRIGATE_SIMD"):
    try:
        _use_kernel(_os.environ["TRIGATE_SIMD"])
    except ValueError as error:
        raise ImportError(f"TRIGATE_SIMD: {error}") from None
