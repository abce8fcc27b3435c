# Shapes: what a protocol declares, in the core's form. Part of _core.pyx, which includes this file.

# The core's roles by their names in lower case.
_ROLES = {
    "object": TG_ROLE_OBJECT,
    "array": TG_ROLE_ARRAY,
    "literal": TG_ROLE_LITERAL,
    "fixed": TG_ROLE_FIXED,
    "empty": TG_ROLE_EMPTY,
    "text": TG_ROLE_TEXT,
    "sequence": TG_ROLE_SEQUENCE,
    "ignored": TG_ROLE_IGNORED,
}

cdef enum:
    _DEEPEST = 12


@cython.final
@cython.no_gc  # numbers and bytes alone
cdef class Shapes:
    """The deltas of one protocol that the core may take without their being read (trigate.protocols.shapes).

    shapes: for each its places, a place being (path, role, literal): member names from the event's object on (None
    for the element of an array), the name of a role, and the JSON text of a literal.
    """

    cdef tg_shapes _shapes

    def __init__(self, shapes):
        for shape in shapes:
            if not tg_shapes_begin(&self._shapes):
                raise ValueError("too many shapes")
            for path, role, literal in shape:
                self._add(tuple(path), _ROLES[role], literal)

    cdef int _add(self, tuple path, tg_role role, bytes literal) except -1:
        cdef tg_span spans[_DEEPEST]
        cdef tg_span text = _span(literal)
        cdef list names = [(name or "").encode() for name in path]
        if len(names) > _DEEPEST:
            raise ValueError(f"the path {path!r} is too deep")
        for index, name in enumerate(names):
            spans[<int> index] = _span(name)
        if not tg_shapes_add(&self._shapes, spans, len(names), role, text):
            raise ValueError(f"there is no room for {path!r}")
        return 0

    def pick(self, bytes data not None, /):
        """The number of the one shape that these data have, and the spans of its holes; None if there is none."""
        cdef tg_pick found
        if not tg_pick_find(&self._shapes, _span(data), &found):
            return None
        return found.shape, [(found.holes[i].pos, found.holes[i].len) for i in range(<int> found.hole_count)]


cdef tg_span _span(bytes text):
    cdef tg_span span
    span.ptr = <const uint8_t *> PyBytes_AS_STRING(text)
    span.len = <size_t> len(text)
    return span
