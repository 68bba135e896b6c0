// As the development servers of Vite, webpack and others do it.
const fs = require("fs");
const https = require("https");
const proxy = require("http-proxy").createProxyServer({ target: "http://127.0.0.1:@service@", xfwd: true, ws: true });
proxy.on("error", (error, request, response) => response.destroy());
const clean = (request) => {
    for (const name of ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-prefix", "forwarded"]) delete request.headers[name];
};
https.createServer({ cert: fs.readFileSync("@certificate@"), key: fs.readFileSync("@key@") }, (request, response) => {
    clean(request);
    proxy.web(request, response);
}).on("upgrade", (request, socket, head) => {
    clean(request);
    proxy.ws(request, socket, head);
}).listen(@port@, "127.0.0.1");
