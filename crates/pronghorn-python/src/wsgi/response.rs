//! What becomes of the object that the application returned (PEP 3333, "Specification Details").

use pronghorn_proto::encode::BodySize;
use pyo3::{
    exceptions::PyTypeError,
    intern,
    prelude::*,
    types::{PyBytes, PyIterator, PyList, PyTuple},
};

use super::{
    call::{Call, Failure, bytes_of},
    failure,
    file_wrapper::FileWrapper,
};

/// Sends `result` as the body and closes it.
#[inline]
pub(super) fn send<'py>(call: &Call<'py, '_, '_>, result: Bound<'py, PyAny>) {
    if let Some(body) = only_item(&result)
        && !call.has_written()
        && call.respond(&body).is_ok()
    {
        return;
    }
    // What follows may drop what it should not outside PyO3's count of attachments.
    Python::attach(|_| send_any(call, result));
}

/// The body, if it is the one item of a list or tuple: what most applications return.
#[inline]
fn only_item<'py>(result: &Bound<'py, PyAny>) -> Option<Bound<'py, PyBytes>> {
    let item = if let Ok(list) = result.cast_exact::<PyList>() {
        (list.len() == 1).then(|| list.get_item(0))?
    } else {
        let tuple = result.cast_exact::<PyTuple>().ok()?;
        (tuple.len() == 1).then(|| tuple.get_item(0))?
    };
    item.ok()?.cast_into_exact::<PyBytes>().ok()
}

fn send_any<'py>(call: &Call<'py, '_, '_>, result: Bound<'py, PyAny>) {
    let outcome = send_body(call, &result);
    failure::settle(result.py(), call, outcome);
    close(call, &result);
}

fn send_body<'py>(call: &Call<'py, '_, '_>, result: &Bound<'py, PyAny>) -> Result<(), Failure> {
    if call.is_gone() {
        return Err(Failure::Gone);
    }
    if result.is_exact_instance_of::<PyList>() || result.is_exact_instance_of::<PyTuple>() {
        return send_items(call, result);
    }
    if let Ok(wrapper) = result.cast_exact::<FileWrapper>()
        && send_file(call, wrapper)?
    {
        return Ok(());
    }
    send_chunks(call, result)
}

/// A list or tuple: all of the body is there, so its length is known.
fn send_items<'py>(call: &Call<'py, '_, '_>, result: &Bound<'py, PyAny>) -> Result<(), Failure> {
    let items = result.try_iter()?;
    let chunks = items.map(|item| bytes_of(item?, YIELDED)).collect::<PyResult<Vec<_>>>()?;
    let total = chunks.iter().map(|chunk| chunk.as_bytes().len()).sum::<usize>();
    if !call.has_written() && total <= JOINED {
        let body = chunks.iter().map(|chunk| chunk.as_bytes()).collect::<Vec<_>>().concat();
        return call.respond_with(&body, || Box::new(body.clone()));
    }
    let size = BodySize::Known(total as u64);
    chunks.iter().try_for_each(|chunk| call.send(chunk, size))?;
    call.finish(size)
}

/// Sends the file in `wrapper` without reading it; `false` when it has to be read.
fn send_file<'py>(
    call: &Call<'py, '_, '_>,
    wrapper: &Bound<'py, FileWrapper>,
) -> Result<bool, Failure> {
    if call.has_written() {
        return Ok(false);
    }
    let Some(region) = FileWrapper::region(wrapper)? else { return Ok(false) };
    let size = BodySize::Known(region.length);
    call.send_file(region)?;
    call.finish(size).map(|()| true)
}

/// Any other iterable: each chunk is with the kernel before the next is asked for. Empty ones do not send the head.
fn send_chunks<'py>(call: &Call<'py, '_, '_>, result: &Bound<'py, PyAny>) -> Result<(), Failure> {
    let alone = has_one_item(result);
    let mut chunks = iterate(result)?;
    // `start_response` may be called as late as by the first chunk, and what a bodyless response would yield is not asked for.
    while !call.is_bodyless() {
        let Some(chunk) = chunks.next() else { return call.finish(BodySize::Known(0)) };
        let chunk = bytes_of(chunk?, YIELDED)?;
        let length = chunk.as_bytes().len() as u64;
        if length > 0 {
            call.send(&chunk, if alone { BodySize::Known(length) } else { BodySize::Unknown })?;
        }
    }
    call.finish(BodySize::Unknown)
}

/// `bytes` can be iterated too, but give numbers.
fn iterate<'py>(result: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    let py = result.py();
    let is_body = !result.is_instance_of::<PyBytes>();
    if is_body
        && (result.hasattr(intern!(py, "__iter__"))?
            || result.hasattr(intern!(py, "__getitem__"))?)
    {
        return result.try_iter();
    }
    let name = result.get_type().name()?;
    let text = format!("the application returned {name}, not an iterable of bytes such as a list");
    Err(PyTypeError::new_err(text))
}

/// PEP 3333, "Handling the Content-Length Header": an iterable of one item tells the length of the body.
fn has_one_item(result: &Bound<'_, PyAny>) -> bool {
    matches!(result.len(), Ok(1))
}

/// Calls `close` of what the application returned, if it has one, in whichever way the response ended.
fn close(call: &Call<'_, '_, '_>, result: &Bound<'_, PyAny>) {
    let py = result.py();
    let closed = match result.getattr_opt(intern!(py, "close")) {
        Ok(None) => return,
        Ok(Some(close)) => close.call0().map(drop),
        Err(error) => Err(error),
    };
    if let Err(error) = closed {
        failure::report(py, call, "close() of the response raised", &error);
    }
}

/// Begins the error about a chunk that is not bytes.
const YIELDED: &str = "the application yielded";
/// Bodies of several parts up to this size are joined into one write.
const JOINED: usize = 64 * 1024;
