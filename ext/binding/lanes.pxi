# Lanes: what one response's pieces of text go through. Part of _core.pyx, which includes this file.
#
# Rules
#  - Whoever reads an event may say, once, that it was nothing but a piece for a lane (`follow`). If nothing else was
#    told of that event, the lane is open: what is like it goes there unread, until an event tells anything else.
#  - Items are told in stream order; consecutive pieces of one owner within one feed are one item.
#  - An item stands where the event stands that is being read when it is told, or where `place` said.

# Where it is off every event is read; the results are the same.
cdef bint _predicts = _os.environ.get("TRIGATE_FASTPATH") != "0"


def _use_prediction(bint wanted):
    """For the lanes that are made from now on; what it was before. For tests and benchmarks."""
    global _predicts
    was, _predicts = _predicts, wanted
    return was


@cython.final
@cython.internal
cdef class _OpenLane:
    """What the pieces of an open lane are: of which lane, kind and owner; sizes: see `Lanes.follow`."""

    cdef Lane lane
    cdef object kind
    cdef object owner
    cdef Sizes sizes


@cython.final
cdef class Lanes:
    """The pieces, the items and the counts of one response.

    deltas: whether pieces become items. shapes: the protocol's, or None: then every event is read.
    max_kept: bound of `kept`, the bytes that stay until the end.
    """

    cdef tg_predict _predict
    cdef const tg_event *_event  # that is being read, or NULL
    cdef public object shapes
    cdef readonly bint deltas
    cdef readonly bint is_closed
    cdef bint _predicts
    cdef bint _watches_strays
    cdef public uint64_t base  # where the connection began whose events these are
    cdef uint64_t _kept
    cdef uint64_t _max_kept
    cdef object _sequence
    # Where the event stands that was read last; how many were read; and whether content came, by a count that grows.
    cdef uint64_t _from
    cdef uint64_t _upto
    cdef uint64_t _closed_from
    cdef uint64_t _closed_upto
    cdef uint64_t _events
    cdef uint64_t _progress
    # What was told of the event that is being read.
    cdef size_t _adds
    cdef bint _is_touched
    cdef Lane _lane
    cdef object _kind
    cdef object _owner
    cdef str _piece
    cdef size_t _room
    cdef Sizes _sizes
    cdef list _open  # the open lanes, by the core's number
    # Items told so far, and the delta that may go on.
    cdef list _items
    cdef object _delta_kind
    cdef object _delta_owner
    cdef object _delta_text  # its first piece
    cdef list _delta_more  # all of its pieces, once there is a second
    cdef uint64_t _delta_start
    cdef uint64_t _delta_end

    def __cinit__(self):
        tg_predict_init(&self._predict, NULL)
        self._open = []
        self._items = []

    def __init__(self, *, bint deltas=True, uint64_t max_kept=2**63 - 1):
        self.deltas = deltas
        self._predicts = _predicts
        self._max_kept = max_kept
        self._tell_room()

    def __dealloc__(self):
        tg_predict_free(&self._predict)

    # -- what an interpreter tells ---------------------------------------------------------------------

    def touch(self):
        """Something was told of this event that is no piece of text."""
        self._is_touched = True

    def keep(self, size_t size, /):
        """Counts bytes that stay; False once the bound is passed."""
        self._kept += size
        self._tell_room()
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

    def keep_each(self):
        """Pieces are told apart (see `follow`), and the last event that went unread is kept (`take_latest`)."""
        self._predict.keeps_each = True

    def watch_strays(self):
        """From the end of this event on, a line that begins with a brace is told of: the chunk in which its first byte
        came, and that byte's offset, then each one that follows, until it is said that no more are wanted.
        """
        self._watches_strays = True

    def take_latest(self):
        """The data of the last event that went unread, once; None if there is none since."""
        if not self._predict.latest.len:
            return None
        cdef bytes data = PyBytes_FromStringAndSize(
            <const char *> self._predict.latest.ptr, <Py_ssize_t> self._predict.latest.len)
        self._predict.latest.len = 0
        return data

    def follow(self, Lane lane not None, kind, owner, str piece not None, size_t room=<size_t> -1,
               Sizes sizes=None):
        """This event was nothing but a piece for the lane, which may take `room` bytes more of the same.

        kind, owner: those of its items, as `delta` takes them; kind None for a lane that is not shown.
        sizes: which takes the size of each piece; asks for `keep_each` before.
        """
        self._lane, self._kind, self._owner, self._piece, self._room = lane, kind, owner, piece, room
        self._sizes = sizes

    # -- items -----------------------------------------------------------------------------------------

    def emit(self, _Item item not None, /):
        self._is_touched = True
        if not self.is_closed:
            self._flush()
            item._start, item._end = self._from, self._upto
            self._items.append(item)

    def close(self):
        """No item follows: what was told just now is the end."""
        self.is_closed = True
        self._closed_from, self._closed_upto = self._from, self._upto

    def ending(self, response):
        """The item of the end, again: it stands where the end was told."""
        cdef ResponseEnded made = ResponseEnded(response)
        if self.is_closed:
            made._start, made._end = self._closed_from, self._closed_upto
        else:
            made._start, made._end = self._from, self._upto
        return made

    def delta(self, kind, owner, str piece not None, /):
        """A piece of text, which will be an item of this kind and owner. It counts as a piece also where no item is wanted."""
        if piece:
            self._adds += 1
            self._progress += <uint64_t> len(piece)
            self._add_delta(kind, owner, piece, self._from, self._upto)

    cdef int _add_delta(self, object kind, object owner, object piece, uint64_t start, uint64_t end) except -1:
        if not self.deltas or self.is_closed or kind is None:
            return 0
        if self._delta_kind is not kind or not _is_one(self._delta_owner, owner):
            self._flush()
            self._delta_kind, self._delta_owner, self._delta_text = kind, owner, piece
            self._delta_start = start
        elif self._delta_more is None:
            self._delta_more = [self._delta_text, piece]
        else:
            self._delta_more.append(piece)
        self._delta_end = end
        return 0

    cdef int _flush(self) except -1:
        cdef object text = self._delta_text
        if self._delta_kind is None:
            return 0
        if self._delta_more is not None:
            text, self._delta_more = "".join(self._delta_more), None
        self._items.append(
            _delta_item(self._delta_kind, self._delta_owner, <str> text, self._delta_start, self._delta_end))
        self._delta_kind = self._delta_owner = self._delta_text = None
        return 0

    def take(self):
        """The items since the last call, in stream order."""
        return self._take()

    cdef list _take(self):
        cdef list items = self._items
        if self._delta_kind is not None:
            self._flush()
        elif not PyList_GET_SIZE(items):
            return []
        self._items = []
        return items

    # -- one event, and what the core took between two of them -----------------------------------------

    cdef void _tell_room(self) noexcept:
        """Tells the core how much may still be kept; what it takes it counts by itself."""
        cdef uint64_t room = self._max_kept - self._kept if self._kept < self._max_kept else 0
        self._predict.room = <size_t> room if room < <uint64_t> <size_t> -1 else <size_t> -1

    cdef void _begin(self, const tg_event *event) noexcept:
        self._event = event
        self._events += 1
        self._from, self._upto = event.start_off + self.base, event.end_off + self.base
        self._adds = 0
        self._is_touched = False
        self._lane = None

    cdef int _end(self) except -1:
        cdef bint is_piece = self._lane is not None and self._adds == 1 and not self._is_touched
        # A piece in no shape may say more than it tells: it closes the lanes as well.
        if not (is_piece and self._predicts and self.shapes is not None and self._learn()) and self._predict.lane_count:
            self._close_lanes()
        self._event = NULL
        self._lane = None
        return 0

    cdef void _close_lanes(self) noexcept:
        tg_predict_close(&self._predict)
        self._open.clear()

    cdef bint _learn(self) except -1:
        """Opens the lane that is followed; False if the core cannot take the like of this event."""
        cdef Py_ssize_t size
        cdef tg_span piece
        cdef Shapes shapes = self.shapes
        cdef size_t number = self._number()
        if number == TG_PREDICT_NO_LANE:
            return False
        try:
            piece.ptr = <const uint8_t *> PyUnicode_AsUTF8AndSize(self._piece, &size)
        except UnicodeEncodeError:
            return False  # half a character
        piece.len = <size_t> size
        return tg_predict_learn(&self._predict, &shapes._shapes, self._event, number, piece)

    cdef size_t _number(self):
        """The core's number of the lane that is followed."""
        cdef size_t number
        cdef _OpenLane known
        for index in range(len(self._open)):
            known = <_OpenLane> self._open[index]
            if known.lane is self._lane and known.kind is self._kind and _is_one(known.owner, self._owner):
                self._predict.rooms[<size_t> index] = self._room  # what was read has taken of it
                return <size_t> index
        number = tg_predict_open(&self._predict, self._room)
        if number != TG_PREDICT_NO_LANE:
            known = _OpenLane.__new__(_OpenLane)
            known.lane, known.kind, known.owner, known.sizes = self._lane, self._kind, self._owner, self._sizes
            self._open.append(known)
        return number

    cdef int _drain(self) except -1:
        """Hands out what the core took: to the lanes, and as items."""
        cdef size_t count = tg_predict_run_count(&self._predict)
        cdef size_t index
        cdef uint64_t start, end
        cdef tg_span text
        cdef _OpenLane known
        if not count:
            return 0
        if self._predict.keeps_each:
            return self._drain_each(count)
        for index in range(count):
            known = self._extend(index, &text)
            if self.deltas and known.kind is not None:
                tg_predict_range(&self._predict, index, &start, &end)
                self._add_delta(known.kind, known.owner, _text(text), start + self.base, end + self.base)
        tg_predict_drain(&self._predict)
        return 0

    cdef list _take_unread(self):
        """`_drain` and `_take` in one. With one chunk for each delta there is one run, and nothing is told before it."""
        cdef size_t count = tg_predict_run_count(&self._predict)
        cdef uint64_t start, end
        cdef tg_span text
        cdef _OpenLane known
        cdef list items
        if count > 1 or self._delta_kind is not None or PyList_GET_SIZE(self._items):
            self._drain()
            return self._take()
        if not count:
            return []
        known = self._extend(0, &text)
        if self.deltas and known.kind is not None and not self.is_closed:
            tg_predict_range(&self._predict, 0, &start, &end)
            items = [_delta_item(known.kind, known.owner, _text(text), start + self.base, end + self.base)]
        else:
            items = []
        tg_predict_drain(&self._predict)
        return items

    cdef inline _OpenLane _extend(self, size_t index, tg_span *text):
        """The lane of one run, with its text appended."""
        cdef size_t number = tg_predict_run(&self._predict, index, text)
        cdef _OpenLane known = <_OpenLane> self._open[number]
        known.lane.extend(text.ptr, text.len)
        self._kept += text.len
        self._progress += text.len
        if known.sizes is not None:
            known.sizes.note(text.len)
        return known

    cdef int _drain_each(self, size_t count) except -1:
        """The same where each piece is told apart: those of one lane that stand together are handed out together."""
        cdef size_t index = 0
        cdef size_t first, number
        cdef uint64_t start, end, last
        cdef tg_span text, piece
        cdef _OpenLane known
        while index < count:
            first = index
            number = tg_predict_run(&self._predict, index, &text)
            known = <_OpenLane> self._open[number]
            text.len = 0
            while index < count and tg_predict_run(&self._predict, index, &piece) == number:
                text.len += piece.len
                if known.sizes is not None:
                    known.sizes.note(piece.len)
                index += 1
            known.lane.extend(text.ptr, text.len)
            self._kept += text.len
            self._progress += text.len
            if self.deltas and known.kind is not None:
                tg_predict_range(&self._predict, first, &start, &end)
                tg_predict_range(&self._predict, index - 1, &last, &end)
                self._add_delta(known.kind, known.owner, _text(text), start + self.base, end + self.base)
        tg_predict_drain(&self._predict)
        return 0

    def place(self, uint64_t start, uint64_t end, /):
        """What is told from now on stands there, up to the next event that is read."""
        self._from, self._upto = start, end

    @property
    def start(self):
        """Where the event begins that was read last."""
        return self._from

    @property
    def end(self):
        return self._upto

    @property
    def events(self):
        """Events so far, the unread ones included."""
        return self._events + self._predict.hits

    @property
    def progress(self):
        """Grows with every piece of content; by how much means nothing."""
        return self._progress

    @property
    def _hits(self):
        """Events that were taken unread."""
        return self._predict.hits


cdef bint _is_one(object owner, object other) except -1:
    """Whether two owners of pieces are one: the same object, or the same number."""
    return owner is other or (type(owner) is int and type(other) is int and owner == other)
