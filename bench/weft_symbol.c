/* weft 0.1.1's wheel for CPython 3.11 asks for this name, which that interpreter does not export. The function of the
 * same meaning has a public name: give weft the other one, so that it can be measured. Loaded by LD_PRELOAD. */
#include <Python.h>

PyObject *_PyVectorcall_Call(PyObject *callable, PyObject *arguments, PyObject *keywords)
{
    return PyVectorcall_Call(callable, arguments, keywords);
}
