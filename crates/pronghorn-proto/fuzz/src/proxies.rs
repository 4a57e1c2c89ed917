//! What proxies say: the header of the PROXY protocol means the same however it is cut, and nothing that a client wrote changes how
//! the words of the proxy behind it are read.

use pronghorn_proto::forwarded::{self, Element, Node, elements, members};
use pronghorn_proto::proxy::{Versions, parse};

/// Panics if `data` is read in a way that no words of a proxy may be.
pub fn check(data: &[u8]) {
    for versions in [Versions::Either, Versions::V1, Versions::V2] {
        check_header(data, versions);
    }
    check_lists(data);
    if let Some(path) = forwarded::mount_point(data) {
        assert!(path.is_empty() || path.starts_with(b"/") && !path.starts_with(b"//"));
        assert!(!path.windows(3).any(|part| part == b"/.."), "{path:?}");
    }
}

fn check_header(data: &[u8], versions: Versions) {
    let whole = parse(data, versions);
    for cut in 0..data.len() {
        match parse(&data[..cut], versions) {
            Ok(None) => {}
            early => assert_eq!(early, whole, "{cut} bytes say more than all"),
        }
    }
    if let Ok(Some(announced)) = whole {
        assert!(announced.length <= data.len());
        assert_eq!(parse(&data[..announced.length], versions), whole);
    }
}

fn check_lists(data: &[u8]) {
    let commas = data.iter().filter(|&&byte| byte == b',').count();
    assert_eq!(members(data).count(), commas + 1);
    assert!(elements(data).count() <= commas + 1);
    let proxy = Element { node: Some(b"192.0.2.1"), ..Element::default() };
    let line = [data, b", for=192.0.2.1"].concat();
    assert_eq!(elements(&line).next(), Some(Some(proxy)), "{line:?}");
    let line = [data, b", 192.0.2.1"].concat();
    assert_eq!(members(&line).next(), proxy.node, "{line:?}");
    for node in members(data).filter_map(Node::parse) {
        assert_eq!(node.ip, node.ip.to_canonical());
    }
}
