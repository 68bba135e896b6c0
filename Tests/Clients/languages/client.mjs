// The job with fetch, or with Node's http.
import { writeFileSync } from "node:fs";
import http from "node:http";
const [name, base, body, text, out] = process.argv.slice(2);
const headers = { "Content-Type": "application/json" };
if (name === "fetch") {
    const { id } = await (await fetch(`${base}/downloads`, { method: "POST", headers, body })).json();
    let seen = "";
    for await (const bytes of (await fetch(`${base}/downloads/${id}/events`)).body) {
        seen += new TextDecoder().decode(bytes);
        if (seen.includes('"state":"completed"')) break;
    }
    writeFileSync(out, new Uint8Array(await (await fetch(`${base}/downloads/${id}/file/${text}`)).arrayBuffer()));
} else {
    const send = (path, method, body) => new Promise((resolve, reject) => {
        http.request(base + path, { method, headers }, async (response) => {
            resolve(Buffer.concat(await response.toArray()));
        }).on("error", reject).end(body);
    });
    const { id } = JSON.parse(await send("/downloads", "POST", body));
    while (JSON.parse(await send(`/downloads?q=${text}`, "GET")).items[0].state !== "completed");
    writeFileSync(out, await send(`/downloads/${id}/file/${text}`, "GET"));
}
