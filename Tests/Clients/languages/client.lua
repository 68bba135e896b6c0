-- The job with LuaSocket.
local http, ltn12 = require("socket.http"), require("ltn12")
local _, base, body, text, out = table.unpack(arg)
local pieces = {}
http.request {
    url = base .. "/downloads", method = "POST", sink = ltn12.sink.table(pieces), source = ltn12.source.string(body),
    headers = { ["Content-Type"] = "application/json", ["Content-Length"] = #body },
}
local id = table.concat(pieces):match('^{"id":"([^"]*)"')
repeat local list = http.request(base .. "/downloads?q=" .. text) until list:find('"state":"completed"', 1, true)
http.request { url = base .. "/downloads/" .. id .. "/file/" .. text, sink = ltn12.sink.file(io.open(out, "wb")) }
