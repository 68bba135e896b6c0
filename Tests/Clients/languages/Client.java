// The job with HttpURLConnection, or with java.net.http.
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.regex.*;

public class Client {
    interface Get { InputStream open(String url, String body) throws Exception; }

    static InputStream connection(String url, String body) throws Exception {
        var connection = (HttpURLConnection) new URL(url).openConnection();
        if (body != null) {
            connection.setDoOutput(true);
            connection.setRequestProperty("Content-Type", "application/json");
            connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
        }
        return connection.getInputStream();
    }

    static InputStream client(String url, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url));
        if (body != null) request.header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofInputStream()).body();
    }

    public static void main(String[] arguments) throws Exception {
        String base = arguments[1], body = arguments[2], text = arguments[3];
        Get get = arguments[0].equals("java.net.http") ? Client::client : Client::connection;
        var made = Pattern.compile("\"id\":\"(\\w+)\"").matcher(new String(get.open(base + "/downloads", body).readAllBytes()));
        made.find();
        try (var events = new BufferedReader(new InputStreamReader(get.open(base + "/downloads/" + made.group(1) + "/events", null)))) {
            while (!events.readLine().contains("\"state\":\"completed\""));
        }
        Files.copy(get.open(base + "/downloads/" + made.group(1) + "/file/" + text, null), Path.of(arguments[4]));
        System.exit(0);
    }
}
