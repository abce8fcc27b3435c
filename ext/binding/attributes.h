/* attributes.h - attributes of an extension type that CPython reads as it reads __slots__.
 *
 * Why: what Cython calls `readonly` is a getset, whose getter is looked up and called at each
 * reading, in some 200 instructions. A member of T_OBJECT_EX is a place in the object, which the
 * interpreter (3.11 and later) remembers where it is read: 12 instructions.
 *
 * Rules
 *  - A member is never NULL and never changes once the object can be seen.
 *  - A type is given its members when its module is imported, before there is a second thread.
 */
#ifndef TG_ATTRIBUTES_H
#define TG_ATTRIBUTES_H

#include <Python.h>
#include <structmember.h>

#include <stddef.h>

/* Of an object, so that nobody need know what Cython calls its struct. */
#define TG_ATTRIBUTE_OFFSET(object, field) \
    ((Py_ssize_t)((const char *)&(object)->field - (const char *)(object)))

/* -1 with an exception set. The type holds the definition from now on: it must be static. */
static inline int
tg_attributes_add(PyObject *given, PyMemberDef *member, const char *name, Py_ssize_t offset)
{
    const PyMemberDef definition = {name, T_OBJECT_EX, offset, READONLY, NULL};
    PyTypeObject *const type = (PyTypeObject *)given;
    PyObject *descriptor;
    int status;

    *member = definition;
    descriptor = PyDescr_NewMember(type, member);
    if (descriptor == NULL)
        return -1;
    status = PyDict_SetItemString(type->tp_dict, name, descriptor);
    Py_DECREF(descriptor);
    PyType_Modified(type);
    return status;
}

#endif
