# The job with gawk's own sockets.
function send(method, path, body,    service, response) {
    service = "/inet/tcp/0/" host "/" port
    printf "%s %s HTTP/1.0\r\nHost: %s:%s\r\n%s\r\n%s", method, path, host, port,
        body == "" ? "" : "Content-Type: application/json\r\nContent-Length: " length(body) "\r\n", body |& service
    RS = "\r\n\r\n"
    service |& getline
    RS = path ~ /events$/ ? "\n" : "^$"
    while ((service |& getline response) > 0 && (RS != "\n" || response !~ /"state":"completed"/));
    close(service)
    return response
}
BEGIN {
    BINMODE = 3
    match(ARGV[2], /\/\/(.*):(.*)/, address)
    host = address[1]
    port = address[2]
    match(send("POST", "/downloads", ARGV[3]), /"id":"([^"]*)"/, made)
    send("GET", "/downloads/" made[1] "/events")
    printf "%s", send("GET", "/downloads/" made[1] "/file/" ARGV[4]) > ARGV[5]
}
