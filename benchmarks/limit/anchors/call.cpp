// Calls an anchor from Python: NumPy arrays in, the value and new NumPy arrays out, at the cost of a hand-written module.
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <malloc.h>
#include <numpy/arrayobject.h>
#include <stdint.h>

typedef double (*Anchor)(const void *const *, const int64_t *, void *const *);
enum { MOST = 16 };

struct Bound {
    Anchor anchor;
    Py_ssize_t arguments, gradients;
    Py_ssize_t differentiated[MOST];
    int64_t sizes[4 * MOST];
};

static PyObject *call(PyObject *capsule, PyObject *const *arguments, Py_ssize_t count) {
    Bound *bound = (Bound *)PyCapsule_GetPointer(capsule, nullptr);
    if (count != bound->arguments) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments than the anchor was bound to");
        return nullptr;
    }
    const void *in[MOST];
    void *out[MOST];
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyArray_Check(arguments[i]) || !PyArray_ISCARRAY_RO((PyArrayObject *)arguments[i])) {
            PyErr_SetString(PyExc_TypeError, "an anchor takes contiguous NumPy arrays");
            return nullptr;
        }
        in[i] = PyArray_DATA((PyArrayObject *)arguments[i]);
    }
    PyObject *gradients = PyTuple_New(bound->gradients);
    for (Py_ssize_t i = 0; i < bound->gradients; i++) {
        PyArrayObject *like = (PyArrayObject *)arguments[bound->differentiated[i]];
        PyObject *made = PyArray_SimpleNew(PyArray_NDIM(like), PyArray_DIMS(like), PyArray_TYPE(like));
        if (made == nullptr) return nullptr;
        PyTuple_SET_ITEM(gradients, i, made);
        out[i] = PyArray_DATA((PyArrayObject *)made);
    }
    double value = bound->anchor(in, bound->sizes, out);
    PyObject *number = PyFloat_FromDouble(value), *pair = PyTuple_New(2);
    PyTuple_SET_ITEM(pair, 0, number);
    PyTuple_SET_ITEM(pair, 1, gradients);
    return pair;
}

static PyMethodDef call_method = {"anchor", (PyCFunction)(void *)call, METH_FASTCALL, nullptr};

// bind(address, number of arguments, positions of those differentiated by, sizes): a function of the arrays
static PyObject *bind(PyObject *, PyObject *arguments) {
    unsigned long long address;
    Py_ssize_t count;
    PyObject *positions, *sizes;
    if (!PyArg_ParseTuple(arguments, "KnO!O!", &address, &count, &PyTuple_Type, &positions, &PyTuple_Type, &sizes))
        return nullptr;
    if (count > MOST || PyTuple_GET_SIZE(positions) > MOST || PyTuple_GET_SIZE(sizes) > 4 * MOST) {
        PyErr_SetString(PyExc_ValueError, "more arguments than an anchor can have");
        return nullptr;
    }
    Bound *bound = (Bound *)calloc(1, sizeof(Bound));
    bound->anchor = (Anchor)(uintptr_t)address;
    bound->arguments = count;
    bound->gradients = PyTuple_GET_SIZE(positions);
    for (Py_ssize_t i = 0; i < bound->gradients; i++)
        bound->differentiated[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(positions, i));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes); i++)
        bound->sizes[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, i));
    if (PyErr_Occurred()) {
        free(bound);
        return nullptr;
    }
    return PyCFunction_New(&call_method, PyCapsule_New(bound, nullptr, nullptr));
}

static PyMethodDef methods[] = {{"bind", bind, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "call", nullptr, -1, methods};

PyMODINIT_FUNC PyInit_call() {
    import_array();
    // arrays that die leave their pages to the next one, as in gradtape
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    return PyModule_Create(&module);
}
