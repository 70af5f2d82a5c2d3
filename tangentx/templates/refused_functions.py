"""Functions of NumPy and Python without a derivative, each with the reason."""

from __future__ import annotations

import builtins
import statistics

import numpy as np

from tangentx.templates.refusals import refused

refused(
    *(np.save, np.savez, np.savez_compressed, np.savetxt),
    reason="it writes a file",
    hint="return the array, and save it outside of the differentiated function",
)
refused(
    *(np.load, np.loadtxt, np.genfromtxt, np.fromfile, np.fromregex, np.memmap),
    reason="it reads a file",
    hint="read it outside of the differentiated function, and pass the array",
)
refused(
    *(np.frombuffer, np.fromstring, np.from_dlpack),
    reason="it reads the bytes of an object",
    hint="make the array outside of the differentiated function, and pass it",
)
refused(
    *(np.seterr, np.seterrcall, np.setbufsize, np.set_printoptions, np.printoptions, np.geterr, np.geterrcall),
    *(np.getbufsize, np.get_printoptions),
    reason="it is about the state of NumPy, not about numbers",
    hint="set it outside of the differentiated function; `with np.errstate(...)` may stand inside",
)
refused(
    *(np.info, np.show_config, np.show_runtime, np.get_include),
    reason="it is about NumPy's installation, not about numbers",
    hint="call it outside of the differentiated function",
)
refused(
    *(np.bmat, np.asmatrix, np.matrix),
    reason="objects of `np.matrix` have operators of their own",
    hint="use arrays of two axes: `np.block`, `@`",
)
refused(
    np.frompyfunc,
    reason="it gives arrays of objects",
    hint="use `np.vectorize`, or a loop over the elements",
)
refused(
    *(np.power.reduce, np.arctan2.reduce),
    reason="NumPy, which takes several elements at once, gives other numbers on some processors",
    hint="write the loop out, or use `functools.reduce(np.power, x)`",
)
refused(
    *(np.nditer, np.nested_iters, np.broadcast, np.flatiter),
    reason="an iterator over arrays keeps a place in them",
    hint="loop over indices: `for i in range(n)`, `for i, j in np.ndindex(a.shape)`",
)
refused(
    np.unique_values,
    reason="it gives the elements in an order that is not told",
    hint="use `np.unique`",
)
refused(
    np.require,
    reason="it gives the array itself or a copy, as the memory has it",
    hint="use `np.asarray`, or `np.array` for a copy",
)
refused(
    *(np.recarray, np.record),
    reason="arrays of records hold no numbers by themselves",
    hint="use an array for each field",
)
refused(
    *(builtins.eval, builtins.exec, builtins.compile),
    reason="code that is made while the program runs cannot be read before",
    hint="write the code into the function",
)
refused(
    *(builtins.globals, builtins.locals, builtins.vars, builtins.dir),
    reason="names as a dict may be bound behind the compiler's back",
    hint="use the names themselves, or a dict of your own",
)
refused(
    *(builtins.iter, builtins.next),
    reason="an iterator that is kept is read by whoever comes first",
    hint="loop over the items where the iterator is made, or keep a list of them",
)
refused(
    *(builtins.aiter, builtins.anext),
    reason="asynchronous code runs in turns with other code",
    hint="gather the values first, and differentiate a function of them",
)
refused(
    *(builtins.input, builtins.open),
    reason="it talks to the outside of the program",
    hint="read what is needed outside of the differentiated function, and pass it",
)
refused(
    *(builtins.set, builtins.frozenset),
    reason="a set is ordered, and equal items are joined, by their hashes",
    hint="use a list, or a dict with keys that do not vary",
)
refused(
    *(builtins.bytes, builtins.bytearray, builtins.memoryview),
    reason="bytes hold no derivative",
    hint="use arrays of numbers",
)
refused(
    *(builtins.object, builtins.super, builtins.property, builtins.classmethod, builtins.staticmethod),
    reason="it is part of a class, which is made outside of the differentiated function",
    hint="define the class at the top of the module; its objects and methods are followed",
)
refused(
    builtins.delattr,
    reason="an object of a class keeps its attributes",
    hint="set the attribute to None",
)
refused(
    *(builtins.breakpoint, builtins.help),
    reason="it is for a person at a terminal",
    hint="call it outside of the differentiated function; a generated text can be stepped through with pdb",
)
refused(
    *(statistics.mode, statistics.multimode, statistics.median_grouped),
    reason="which numbers are equal decides",
    hint="use `statistics.median`, or count what does not vary",
)
refused(
    np.histogramdd,
    reason="its bins are found axis by axis",
    hint="use `np.histogram` or `np.histogram2d`",
)
refused(
    np.lib.stride_tricks.as_strided,
    reason="it reads memory by its layout",
    hint="use `np.lib.stride_tricks.sliding_window_view`, `np.broadcast_to` or slices",
)
