// A receiver of Patchbay's completion webhook, in Java 17 without packages.
//   PATCHBAY_WEBHOOK_SECRET=whsec_… PORT=3000 java Receiver.java
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
    static final byte[] SECRET = System.getenv("PATCHBAY_WEBHOOK_SECRET").getBytes(StandardCharsets.UTF_8);
    static final Set<String> SEEN = ConcurrentHashMap.newKeySet(); // in production: a table with a unique column

    static boolean isGenuine(Headers headers, byte[] body) throws Exception {
        String timestamp = headers.getFirst("X-SVC-Webhook-Ts");
        if (timestamp == null || !timestamp.matches("[0-9]{1,12}")) return false;
        long age = System.currentTimeMillis() / 1000 - Long.parseLong(timestamp);
        if (age > 300 || age < -60) return false;
        // The bytes as they came: parsed and printed again, they would be others.
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
        mac.update((timestamp + ".").getBytes(StandardCharsets.UTF_8));
        byte[] expected = HexFormat.of().formatHex(mac.doFinal(body)).getBytes(StandardCharsets.UTF_8);
        for (String name : new String[] {"X-SVC-Webhook-Signature", "X-SVC-Webhook-Signature-Previous"}) {
            String given = headers.getFirst(name);
            if (given != null && MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), expected)) return true;
        }
        return false;
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                byte[] body = exchange.getRequestBody().readAllBytes();
                boolean isGenuine = exchange.getRequestMethod().equals("POST") && isGenuine(exchange.getRequestHeaders(), body);
                if (isGenuine && SEEN.add(exchange.getRequestHeaders().getFirst("X-SVC-Webhook-Id"))) {
                    // Parse it with the library of your house, then fetch GET /v1/transcription/jobs/{job_id}.
                    System.out.println(new String(body, StandardCharsets.UTF_8));
                }
                exchange.sendResponseHeaders(isGenuine ? 204 : 400, -1);
            } catch (Exception failure) {
                throw new java.io.IOException(failure);
            }
        });
        server.start();
        System.out.println("port " + server.getAddress().getPort());
    }
}
