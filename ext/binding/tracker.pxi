# JSONTracker: the core's JSON machine as an object. Part of _core.pyx, which includes this file.
#
# Rules
#  - A text that is broken is a state, told by `state` and `error_at`; only a passed limit is an exception.

# In the order of tg_json_verdict.
cdef tuple _STATES = ("empty", "open", "closed", "invalid", "trailing")


cdef str _told_state(tg_status status, const tg_json *json):
    """The state that a status of the core comes with; only what is no state is raised."""
    if (status != TG_OK and status != TG_MORE and status != TG_ERR_JSON_INVALID
            and status != TG_ERR_JSON_TRAILING):
        raise _error(status, json.error_off)
    return _STATES[<int> tg_json_read(json)]


@cython.final
cdef class JSONTracker:
    """A JSON text that arrives in pieces: is it whole, may it still become one, where did it break?

    strict=True: RFC 8259 in full. strict=False: brackets, strings and backslashes alone. Offsets are bytes of
    the UTF-8 text from its start. A bare number closes only at white space or finish(). Passing max_depth
    raises LimitError (code depth_too_large), again at each later feed.
    """

    cdef tg_json _json
    cdef bint _finished
    cdef tg_guard _guard
    cdef readonly bint strict
    cdef readonly size_t max_depth

    def __cinit__(self):
        cdef tg_alloc alloc = tg_alloc_default()
        tg_json_init(&self._json, &alloc, TG_JSON_STRICT, 1)

    def __init__(self, *, bint strict=True, max_depth=1024):
        if not isinstance(max_depth, int) or isinstance(max_depth, bool):
            raise TypeError(f"max_depth must be an int, not {type(max_depth).__name__}")
        if not 1 <= max_depth <= 2**63 - 1:
            raise ValueError(f"max_depth must be between 1 and 2**63 - 1, not {max_depth}")
        cdef tg_alloc alloc = tg_alloc_default()
        _enter(&self._guard)
        try:
            tg_json_free(&self._json)
            tg_json_init(&self._json, &alloc, TG_JSON_STRICT if strict else TG_JSON_STRUCTURAL, max_depth)
            self._finished = False
        finally:
            tg_guard_give(&self._guard)
        self.strict = strict
        self.max_depth = max_depth

    def __dealloc__(self):
        tg_json_free(&self._json)

    def feed(self, piece, /):
        """Takes the next piece (str or bytes-like); returns the state."""
        cdef Py_buffer view
        cdef Py_ssize_t size
        cdef const char *text
        _enter(&self._guard)
        try:
            if self._finished:
                raise RuntimeError("feed() after finish(): call reset() to track another text")
            if isinstance(piece, str):
                text = PyUnicode_AsUTF8AndSize(piece, &size)
                return self._took(tg_json_feed(&self._json, <const uint8_t *> text, <size_t> size))
            PyObject_GetBuffer(piece, &view, PyBUF_SIMPLE)
            try:
                return self._took(
                    tg_json_feed(&self._json, <const uint8_t *> view.buf, <size_t> view.len))
            finally:
                PyBuffer_Release(&view)
        finally:
            tg_guard_give(&self._guard)

    cdef str _took(self, tg_status status):
        return _told_state(status, &self._json)

    def finish(self):
        """Declares the end of the text; returns the final state. Idempotent."""
        _enter(&self._guard)
        try:
            self._finished = True
            return self._took(tg_json_finish(&self._json))
        finally:
            tg_guard_give(&self._guard)

    def reset(self):
        """Forgets the text: ready for another one."""
        _enter(&self._guard)
        try:
            tg_json_reset(&self._json)
            self._finished = False
        finally:
            tg_guard_give(&self._guard)

    @property
    def state(self):
        """"empty", "open", "closed", "invalid" or "trailing"."""
        return _STATES[<int> tg_json_read(&self._json)]

    @property
    def depth(self):
        """Arrays and objects open now."""
        return self._json.depth

    @property
    def max_depth_seen(self):
        return self._json.max_depth_seen

    @property
    def closed_at(self):
        """Offset just past the first whole value, or None."""
        return None if self._json.closed_off == TG_JSON_NOWHERE else self._json.closed_off

    @property
    def error_at(self):
        """Offset of the byte that broke the text (or that trails the value), or None."""
        return None if self._json.error_off == TG_JSON_NOWHERE else self._json.error_off

    @property
    def lone_surrogate(self):
        """Whether an escape named half a surrogate pair (strict view only)."""
        return self._json.is_lone_surrogate

    def __repr__(self):
        return f"<JSONTracker {self.state} depth={self.depth}>"
