// A receiver of Patchbay's completion webhook, in Node without packages.
//   PATCHBAY_WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.mjs
// With the package installed, `import { verifyWebhook } from "patchbay-gateway/webhooks"` does what `isGenuine` does here.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.PATCHBAY_WEBHOOK_SECRET;
if (!secret) throw new Error("PATCHBAY_WEBHOOK_SECRET is not set");
const seen = new Set(); // in production: a table with a unique column

function isGenuine(headers, body) {
  const timestamp = headers["x-svc-webhook-ts"] ?? "";
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  const age = Date.now() / 1000 - Number(timestamp);
  if (age > 300 || age < -60) return false;
  // The bytes as they came: parsed and printed again, they would be others.
  const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest();
  return [headers["x-svc-webhook-signature"], headers["x-svc-webhook-signature-previous"]].some((given) => {
    const signature = Buffer.from(given ?? "", "hex");
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (request.method !== "POST" || !isGenuine(request.headers, body)) return response.writeHead(400).end();
  const id = request.headers["x-svc-webhook-id"];
  if (!seen.has(id)) {
    const event = JSON.parse(body.toString());
    console.log(event.type, event.job_id); // now fetch GET /v1/transcription/jobs/{job_id}
    seen.add(id);
  }
  response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log(`port ${server.address().port}`));
