# Sizes: how a text was cut into pieces. Part of _core.pyx, which includes this file.
#
# Rules
#  - A size takes as few bytes as it needs, seven bits in each, the lowest first; all but its last have the highest bit.
#    So most pieces take one byte.

# Sizes on their way into an object that grows: so many bytes at once.
cdef enum:
    _SIZES = 128
    _SIZE_MOST = 10  # bytes of one


@cython.final
@cython.no_gc
cdef class Sizes:
    """Numbers of bytes, one for each piece; it only grows. packed: all of them, as `unpacked` reads them."""

    cdef bytearray _packed
    cdef uint8_t _near[_SIZES]
    cdef size_t _near_len

    def __cinit__(self):
        self._packed = bytearray()

    cdef int note(self, size_t size) except -1:
        """Appends one. What is noted is seen after `_write`."""
        if _SIZES - self._near_len < _SIZE_MOST:
            self._write()
        while size >= 0x80:
            self._near[self._near_len] = <uint8_t> (size | 0x80)
            self._near_len += 1
            size >>= 7
        self._near[self._near_len] = <uint8_t> size
        self._near_len += 1
        return 0

    cdef int _write(self) except -1:
        cdef Py_ssize_t before = PyByteArray_GET_SIZE(self._packed)
        PyByteArray_Resize(self._packed, before + <Py_ssize_t> self._near_len)
        memcpy(PyByteArray_AS_STRING(self._packed) + before, self._near, self._near_len)
        self._near_len = 0
        return 0

    def append(self, size_t size, /):
        self.note(size)

    @property
    def packed(self):
        self._write()
        return bytes(self._packed)

    @staticmethod
    def unpacked(bytes packed not None, /):
        """The numbers of `packed`."""
        cdef list sizes = []
        cdef size_t size = 0
        cdef int shift = 0
        cdef uint8_t byte
        for byte in packed:
            size |= <size_t> (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                sizes.append(size)
                size = shift = 0
        return sizes
