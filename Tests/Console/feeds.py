"""A server of made-up feeds on 127.0.0.1."""

import html
import http.server
import threading


class Feeds:
    """Serves documents by path. Paths without one get 404."""

    def __init__(self):
        self.documents = {}
        feeds = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, text = feeds.documents.get(self.path, (404, ""))
                self.send_response(status)
                self.send_header("Content-Type", "application/rss+xml; charset=utf-8")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def url(self, path):
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def publish(self, path, name, episodes, upstream, title="Episode {}"):
        """Serves a feed with this number of episodes, one a day; returns its address."""
        items = "".join(f"""<item><title>{html.escape(title.format(number))}</title><guid>{path}-{number}</guid>
            <pubDate>{number % 28 + 1:02} {("Jan", "Feb", "Mar", "Apr", "May", "Jun")[number // 28]} 2026 12:00:00 GMT</pubDate>
            <enclosure url="{upstream}/entity?size=1000&amp;seed={number}&amp;feed={path}" type="audio/mpeg" length="1000"/></item>"""
                        for number in range(episodes))
        self.documents[path] = (200, f'<rss version="2.0"><channel><title>{html.escape(name)}</title>{items}</channel></rss>')
        return self.url(path)

    def fail(self, path, status):
        """Lets a feed fail; returns its address."""
        self.documents[path] = (status, "")
        return self.url(path)
