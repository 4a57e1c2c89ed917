//! Delivering the server's messages to Python's `logging`, on a thread of its own.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use log::{Level, LevelFilter};
use pyo3::{intern, prelude::*, types::PyDict};

use super::queue::{Batch, Message, QUEUE};
use super::{output, write};
use crate::attach;

/// How long the end of the process waits for messages to be delivered.
const LAST_WORDS: Duration = Duration::from_secs(1);

const STACK: usize = 1 << 20;

/// The logger, as `gunicorn.error` is gunicorn's.
const LOGGER: &str = "pronghorn.error";

/// Messages go through `logging` as long as this lives, if the application has configured it.
pub(crate) struct Delivery {
    begun: bool,
}

impl Delivery {
    /// Begins in a process whose application is imported, if its `logging` has a handler for the server's messages and no file was
    /// asked for. `logging` is not imported for it.
    pub(crate) fn begin(py: Python<'_>) -> Self {
        let logger = match configured(py) {
            Ok(Some(logger)) if output::is_standard() => logger.unbind(),
            Ok(_) => return Delivery { begun: false },
            Err(error) => {
                log::warn!("the application's logging cannot be used: {error}");
                return Delivery { begun: false };
            }
        };
        match start(logger) {
            Ok(()) => Delivery { begun: true },
            Err(error) => {
                log::warn!("the application's logging cannot be used: {error}");
                Delivery { begun: false }
            }
        }
    }

    /// Delivers what waits, within about a second, and ends.
    pub(crate) fn end(self, py: Python<'_>) {
        if self.begun {
            QUEUE.close();
            py.detach(|| {
                flush();
                IS_STUCK.store(!QUEUE.wait_until_ended(LAST_WORDS), Ordering::Relaxed);
            });
        }
    }
}

/// Whether a handler of the application holds a message that it does not come back from. Python's own end would wait for it.
pub(crate) fn is_stuck() -> bool {
    IS_STUCK.load(Ordering::Relaxed)
}

static IS_STUCK: AtomicBool = AtomicBool::new(false);

/// Waits a moment for what is on its way; what is still there then goes to standard error. A thread that holds the interpreter
/// waits for nothing: nothing can be delivered meanwhile.
pub(super) fn flush() {
    if !attach::attached() {
        QUEUE.wait_until_delivered(LAST_WORDS);
    }
    write_rest();
}

fn write_rest() {
    let rest = QUEUE.take_rest();
    rest.own_message().iter().chain(&rest.messages).for_each(write);
}

/// The logger, if a record on it would reach a handler.
fn configured(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    let Some(logging) = modules.cast_into::<PyDict>()?.get_item("logging")? else {
        return Ok(None);
    };
    let logger = logging.call_method1("getLogger", (LOGGER,))?;
    if !logger.call_method0("hasHandlers")?.extract::<bool>()? {
        return Ok(None);
    }
    // Which messages there are is for log-level to say, unless the application says it of this logger.
    let own_level = logger.getattr("level")?.extract::<u32>()?;
    let above = logging.call_method1("getLogger", ("pronghorn",))?.getattr("level")?;
    if own_level == 0 && above.extract::<u32>()? == 0 {
        logger.call_method1("setLevel", (least(log::max_level()),))?;
    }
    Ok(Some(logger))
}

fn start(logger: Py<PyAny>) -> io::Result<()> {
    // First: a thread that finds the queue closed has nothing to do, and ends.
    QUEUE.open();
    let builder = thread::Builder::new().name("pronghorn-messages".to_owned());
    let started = builder.stack_size(STACK).spawn(move || deliver_all(logger));
    if started.is_err() {
        QUEUE.close();
        write_rest();
    }
    started.map(drop)
}

fn deliver_all(logger: Py<PyAny>) {
    while let Some(batch) = QUEUE.next() {
        attach::attach();
        Python::attach(|py| {
            for message in batch.own_message().iter().chain(&batch.messages) {
                if let Err(error) = deliver(logger.bind(py), message) {
                    write(message);
                    write(&own(format!("the application's logging failed: {error}")));
                }
            }
        });
        attach::detach();
    }
    attach::attach();
    Python::attach(|_| drop(logger));
    attach::detach();
    attach::leave();
}

/// Hands one message to the logger, with the time it is of.
fn deliver(logger: &Bound<'_, PyAny>, message: &Message) -> PyResult<()> {
    let py = logger.py();
    let level = number(message.level);
    if !logger.call_method1(intern!(py, "isEnabledFor"), (level,))?.is_truthy()? {
        return Ok(());
    }
    let arguments = (LOGGER, level, "pronghorn", 0, &message.text, (), py.None());
    let record = logger.call_method1(intern!(py, "makeRecord"), arguments)?;
    record.setattr(intern!(py, "created"), message.time.as_secs_f64())?;
    record.setattr(intern!(py, "msecs"), f64::from(message.time.subsec_millis()))?;
    logger.call_method1(intern!(py, "handle"), (record,)).map(drop)
}

impl Batch {
    /// Tells of what was lost before it.
    fn own_message(&self) -> Option<Message> {
        (self.lost > 0).then(|| own(format!("{} log messages were lost", self.lost)))
    }
}

fn own(text: String) -> Message {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Message { time, level: Level::Warn, text }
}

/// Python's number of a level.
fn number(level: Level) -> u32 {
    match level {
        Level::Error => 40,
        Level::Warn => 30,
        Level::Info => 20,
        Level::Debug => 10,
        Level::Trace => 5,
    }
}

/// Python's number of the least level that is wanted; above all of them when none is.
fn least(filter: LevelFilter) -> u32 {
    filter.to_level().map_or(60, number)
}
