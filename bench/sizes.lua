-- Reports how many bytes came back for each request.
function done(summary, latency, requests)
   io.write(string.format("Bytes per reply: %d\n", summary.bytes / summary.requests))
end
