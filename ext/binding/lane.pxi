# Lane: the core's growing text as an object. Part of _core.pyx, which includes this file.
#
# Rules
#  - One thread appends; any other may read meanwhile. Reading changes nothing that appending relies on.
#  - Text is kept as UTF-8; a str is made when it is asked for, and kept until more comes.
#  - Halves of surrogate pairs, which JSON may bring in two pieces, are kept as the three bytes each that they would
#    have in UTF-8.

cdef const char *_HALVES_PASS = "surrogatepass"


@cython.final
@cython.no_gc  # a lane holds text alone
cdef class Lane:
    """A text that grows at its end: linear in all, and without a str for each small piece.

    text: all of it. size: its bytes as UTF-8, halves of surrogate pairs counted as three.
    """

    # The text stands in _lane as bytes, or, before anything was appended to a text that was given whole, in _told.
    cdef tg_lane _lane
    cdef str _told
    cdef size_t _told_size
    cdef bint _is_given

    def __cinit__(self):
        tg_lane_init(&self._lane, NULL, 1024)
        self._told = ""

    def __init__(self, str text not None="", *, size_t max_depth=1024):
        self._lane.max_depth = max_depth
        if text:
            self._told = text
            self._told_size = len(text) if text.isascii() else <size_t> len(text.encode("utf-8", "surrogatepass"))
            self._is_given = True

    def __dealloc__(self):
        tg_lane_free(&self._lane)

    cdef int extend(self, const uint8_t *ptr, size_t size) except -1:
        """Appends UTF-8, or what stands for halves."""
        cdef bint is_done
        if self._is_given:
            self._write_given()
        with cython.critical_section(self):
            is_done = tg_lane_append(&self._lane, ptr, size)
        if not is_done:
            raise MemoryError("trigate: out of memory")
        return 0

    cdef int _write_given(self) except -1:
        cdef bytes text = self._told.encode("utf-8", "surrogatepass")
        cdef bint is_done
        with cython.critical_section(self):
            is_done = tg_lane_append(&self._lane, <const uint8_t *> PyBytes_AS_STRING(text), <size_t> len(text))
            self._is_given = not is_done
        if not is_done:
            raise MemoryError("trigate: out of memory")
        return 0

    def append(self, str piece not None, /):
        cdef Py_ssize_t size
        cdef const char *text
        cdef bytes encoded
        try:
            text = PyUnicode_AsUTF8AndSize(piece, &size)
        except UnicodeEncodeError:
            encoded = piece.encode("utf-8", "surrogatepass")
            self.extend(<const uint8_t *> PyBytes_AS_STRING(encoded), <size_t> len(encoded))
        else:
            self.extend(<const uint8_t *> text, <size_t> size)

    @property
    def text(self):
        cdef tg_span span
        cdef str text
        with cython.critical_section(self):
            text = self._told
            span = tg_lane_text(&self._lane)
            if not self._is_given and self._told_size != span.len:
                text = PyUnicode_DecodeUTF8(<const char *> span.ptr, <Py_ssize_t> span.len, _HALVES_PASS)
                self._told = text
                self._told_size = span.len
        return text

    @property
    def max_depth(self):
        return self._lane.max_depth

    @property
    def size(self):
        return self._size()

    cdef size_t _size(self) noexcept:
        return self._told_size if self._is_given else self._lane.text.len

    def __bool__(self):
        return self._is_given or self._lane.text.len > 0

    @property
    def last(self):
        """The last character that is not JSON's white space, "" if there is none; U+FFFD for one beyond ASCII."""
        cdef uint8_t byte
        if self._is_given:
            self._write_given()
        with cython.critical_section(self):
            byte = tg_lane_last(&self._lane)
        return "" if byte == 0 else chr(byte) if byte < 0x80 else "\ufffd"

    def slice(self, size_t start, size_t end, /):
        """The text from one byte to another; both stand between characters."""
        cdef tg_span span
        if self._is_given:
            self._write_given()
        with cython.critical_section(self):
            span = tg_lane_text(&self._lane)
            if not start <= end <= span.len:
                raise ValueError(f"{start}:{end} of {span.len} bytes")
            return PyUnicode_DecodeUTF8(<const char *> span.ptr + start, <Py_ssize_t> (end - start), _HALVES_PASS)

    def json(self):
        """The JSON of the text so far, as if it ended here.

        (state, depth, max_depth_seen, error_at, has a lone surrogate, has a number that may overflow a double): states
        and offsets are those of JSONTracker. Asked again, only what is new is read. LimitError (depth_too_large) when
        the text is nested deeper than max_depth.
        """
        cdef const tg_json *told
        cdef tg_json json
        cdef tg_status status
        if self._is_given:
            self._write_given()
        with cython.critical_section(self):
            told = tg_lane_json(&self._lane)
            if told is NULL:
                raise MemoryError("trigate: out of memory")
            json = told[0]
        status = tg_json_finish(&json)  # of a copy: the lane itself may go on
        return (_told_state(status, &json), json.depth, json.max_depth_seen, _offset(json.error_off),
                json.is_lone_surrogate, json.has_large_number)

    def has_unique_names(self):
        """Of a text that is one JSON value: whether each object is known to have each name once. False: it may not."""
        cdef bint are_unique
        if self._is_given:
            self._write_given()
        with cython.critical_section(self):
            are_unique = tg_members_are_unique(tg_lane_text(&self._lane))
        return are_unique

    def end_of_copy(self, bytes data not None, size_t start, /):
        """Where the JSON string ends whose opening quote is data[start], if it says the text; -1 if it does not.

        data: UTF-8. The end is just past the closing quote.
        """
        cdef tg_span rest
        cdef size_t found
        if start >= <size_t> len(data) or PyBytes_AS_STRING(data)[start] != c'"':
            return -1
        if self._is_given:
            self._write_given()
        rest.ptr = <const uint8_t *> PyBytes_AS_STRING(data) + start + 1
        rest.len = <size_t> len(data) - start - 1
        with cython.critical_section(self):
            found = tg_unescape_compare(rest, tg_lane_text(&self._lane))
        return -1 if found == TG_UNESCAPE_OTHER else start + 1 + found + 1

    def quoted(self):
        """The text as a JSON string, in UTF-8. Halves of surrogate pairs have none: such a text is not for this."""
        cdef tg_span span
        cdef bytes made
        if self._is_given:
            self._write_given()
        with cython.critical_section(self):
            span = tg_lane_text(&self._lane)
            made = PyBytes_FromStringAndSize(NULL, <Py_ssize_t> tg_escape_size(span))
            tg_escape(span, <uint8_t *> PyBytes_AS_STRING(made))
        return made

    def __reduce__(self):
        return (Lane, (self.text,))

    def __repr__(self):
        return f"<Lane of {self.size} bytes>"
