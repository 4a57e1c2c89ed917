-- The echo workload for wrk: POST 100 KB, and report how many bytes came back for each.
wrk.method = "POST"
wrk.body = string.rep("0123456789abcdef", 6400)
wrk.headers["Content-Type"] = "application/octet-stream"

function done(summary, latency, requests)
   io.write(string.format("Bytes per reply: %d\n", summary.bytes / summary.requests))
end
