vcl 4.1;
backend pawl {
    .host = "127.0.0.1";
    .port = "@service@";
    .first_byte_timeout = 90s;
}
sub vcl_recv {
    # Varnish has added the client's address to X-Forwarded-For.
    set req.http.X-Forwarded-For = client.ip;
    set req.http.X-Forwarded-Proto = "http";
    unset req.http.X-Forwarded-Host;
    unset req.http.X-Forwarded-Prefix;
    unset req.http.Forwarded;
    // Several ranges in one response are 503 otherwise.
    if (req.http.Upgrade ~ "(?i)websocket" || req.http.Range ~ ",") {
        return (pipe);
    }
    return (pass);
}
sub vcl_pipe {
    if (req.http.Upgrade) {
        set bereq.http.Upgrade = req.http.Upgrade;
        set bereq.http.Connection = req.http.Connection;
    } else {
        set bereq.http.Connection = "close";
    }
}
sub vcl_backend_response {
    if (beresp.http.Content-Type ~ "^(application/json|text/(html|css|javascript)|application/rss)") {
        set beresp.do_gzip = true;
    }
}
