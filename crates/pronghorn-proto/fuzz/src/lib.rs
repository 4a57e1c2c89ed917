//! What the fuzz targets check. The tests of `pronghorn-proto` include these modules and run them
//! over the committed corpora, so that the checks hold without a fuzzer too.

pub mod chunked;
pub mod conversation;
pub mod cuts;
pub mod handshake;
pub mod head;
pub mod proxies;
pub mod request;
pub mod websocket;
