# Lanes: what one response's pieces of text go through. Part of _core.pyx, which includes this file.
#
# Rules
#  - Whoever reads an event may say, once, that it was nothing but a piece for a lane (`follow`). If nothing else was
#    told of that event, the lane is open: what is like it goes there unread, until an event tells anything else.
#  - Items are told in stream order; consecutive pieces of one owner within one feed are one item.

# Where it is off every event is read; the results are the same.
cdef bint _predicts = _os.environ.get("TRIGATE_FASTPATH") != "0"


def _use_prediction(bint wanted):
    """For the lanes that are made from now on; what it was before. For tests and benchmarks."""
    global _predicts
    was, _predicts = _predicts, wanted
    return was


@cython.final
cdef class Lanes:
    """The pieces, the items and the counts of one response.

    deltas: whether pieces become items. shapes: the protocol's, or None: then every event is read.
    max_kept: bound of `kept`, the bytes that stay until the end. owner_first: the kind of item that is made as
    kind(owner, text); all others as kind(text, owner).
    """

    cdef tg_predict _predict
    cdef const tg_event *_event  # that is being read, or NULL
    cdef public object shapes
    cdef readonly bint deltas
    cdef object _owner_first
    cdef readonly bint is_closed
    cdef bint _predicts
    cdef uint64_t _kept
    cdef uint64_t _max_kept
    cdef object _sequence
    # What was told of the event that is being read.
    cdef size_t _adds
    cdef bint _is_touched
    cdef Lane _lane
    cdef object _kind
    cdef object _owner
    cdef str _piece
    cdef size_t _room
    # The open lanes, by the core's number: (lane, kind, owner).
    cdef list _open
    # Items told so far, and the delta that may go on.
    cdef list _items
    cdef object _delta_kind
    cdef object _delta_owner
    cdef list _delta_pieces

    def __cinit__(self):
        tg_predict_init(&self._predict, NULL)
        self._open = []
        self._items = []
        self._delta_pieces = []

    def __init__(self, *, bint deltas=True, uint64_t max_kept=2**63 - 1, owner_first=None):
        self.deltas = deltas
        self._owner_first = owner_first
        self._predicts = _predicts
        self._max_kept = max_kept

    def __dealloc__(self):
        tg_predict_free(&self._predict)

    # -- what an interpreter tells ---------------------------------------------------------------------

    def touch(self):
        """Something was told of this event that is no piece of text."""
        self._is_touched = True

    def keep(self, size_t size, /):
        """Counts bytes that stay; False once the bound is passed."""
        self._kept += size
        return self._kept <= self._max_kept

    @property
    def kept(self):
        return self._kept

    @property
    def sequence(self):
        """The sequence number of the last event that had one, or None."""
        return self._predict.sequence if self._predict.has_sequence else self._sequence

    @sequence.setter
    def sequence(self, value):
        self._sequence = value
        self._predict.has_sequence = isinstance(value, int) and 0 <= value < 2**62
        if self._predict.has_sequence:
            self._predict.sequence = value

    def follow(self, Lane lane not None, kind, owner, str piece not None, size_t room=<size_t> -1):
        """This event was nothing but a piece for the lane, which may take `room` bytes more of the same.

        kind, owner: those of its items, as `delta` takes them.
        """
        self._lane, self._kind, self._owner, self._piece, self._room = lane, kind, owner, piece, room

    # -- items -----------------------------------------------------------------------------------------

    def emit(self, item, /):
        self._is_touched = True
        if not self.is_closed:
            self._flush()
            self._items.append(item)

    def close(self):
        """No item follows."""
        self.is_closed = True

    def delta(self, kind, owner, str piece not None, /):
        """A piece of text, which will be an item of this kind and owner. It counts as a piece also where no item is wanted."""
        if piece:
            self._adds += 1
            self._add_delta(kind, owner, piece)

    cdef int _add_delta(self, object kind, object owner, object piece) except -1:
        if not self.deltas or self.is_closed:
            return 0
        if self._delta_kind is not kind or self._delta_owner is not owner:
            self._flush()
            self._delta_kind, self._delta_owner = kind, owner
        self._delta_pieces.append(piece)
        return 0

    cdef int _flush(self) except -1:
        cdef list pieces = self._delta_pieces
        if pieces:
            text = pieces[0] if len(pieces) == 1 else "".join(pieces)
            self._delta_pieces = []
            self._items.append(self._item(text))
        self._delta_kind = self._delta_owner = None
        return 0

    cdef object _item(self, text):
        if self._delta_kind is self._owner_first:
            return self._delta_kind(self._delta_owner, text)
        return self._delta_kind(text, self._delta_owner)

    def take(self):
        """The items since the last call, in stream order."""
        return self._take()

    cdef list _take(self):
        cdef list items = self._items
        if self._delta_kind is not None:
            self._flush()
        self._items = []
        return items

    # -- one event, and what the core took between two of them -----------------------------------------

    cdef void _sync(self) noexcept:
        """Tells the core how much may still be kept."""
        cdef uint64_t room = self._max_kept - self._kept if self._kept < self._max_kept else 0
        self._predict.room = <size_t> room if room < <uint64_t> <size_t> -1 else <size_t> -1

    cdef void _begin(self, const tg_event *event) noexcept:
        self._event = event
        self._adds = 0
        self._is_touched = False
        self._lane = None

    cdef int _end(self) except -1:
        cdef bint is_piece = self._lane is not None and self._adds == 1 and not self._is_touched
        if is_piece:
            if self._predicts and self.shapes is not None:
                self._learn()
        elif self._predict.lane_count:
            self._close_lanes()
        self._event = NULL
        self._lane = None
        return 0

    cdef void _close_lanes(self) noexcept:
        tg_predict_close(&self._predict)
        self._open.clear()

    cdef int _learn(self) except -1:
        cdef Py_ssize_t size
        cdef tg_span piece
        cdef Shapes shapes = self.shapes
        cdef size_t number = self._number()
        if number == TG_PREDICT_NO_LANE:
            return 0
        try:
            piece.ptr = <const uint8_t *> PyUnicode_AsUTF8AndSize(self._piece, &size)
        except UnicodeEncodeError:
            return 0  # half a character: the core would not take the like of it
        piece.len = <size_t> size
        tg_predict_learn(&self._predict, &shapes._shapes, self._event, number, piece)
        return 0

    cdef size_t _number(self):
        """The core's number of the lane that is followed."""
        cdef size_t number
        for index, known in enumerate(self._open):
            if known[0] is self._lane and known[1] is self._kind and known[2] is self._owner:
                return <size_t> index
        number = tg_predict_open(&self._predict, self._room)
        if number != TG_PREDICT_NO_LANE:
            self._open.append((self._lane, self._kind, self._owner))
        return number

    cdef int _drain(self) except -1:
        """Hands out what the core took: to the lanes, and as items."""
        cdef size_t count = tg_predict_run_count(&self._predict)
        cdef size_t index, number
        cdef tg_span text
        cdef tuple known
        if not count:
            return 0
        for index in range(count):
            number = tg_predict_run(&self._predict, index, &text)
            known = <tuple> self._open[number]
            (<Lane> known[0]).extend(text.ptr, text.len)
            self._kept += text.len
            if self.deltas:
                self._add_delta(known[1], known[2], _text(text))
        tg_predict_drain(&self._predict)
        return 0

    @property
    def _hits(self):
        """Events that were taken unread."""
        return self._predict.hits
