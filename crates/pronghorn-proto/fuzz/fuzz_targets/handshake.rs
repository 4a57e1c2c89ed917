#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| pronghorn_proto_fuzz::handshake::check(data));
