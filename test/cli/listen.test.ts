// `patchbay listen` [cli.listen]: events as they came, to a receiver on this machine.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { readEvents } from "../../src/cli/use/read-events.ts";
import { listen } from "../../src/cli/use/listen.ts";
import { CliError } from "../../src/cli/terminal.ts";
import { newId } from "../../src/contract/ids.ts";
import { eventText } from "../../src/http/reply/sse.ts";
import { signedRequest } from "../../src/webhooks/attempt.ts";
import { makeSecret } from "../../src/webhooks/sign.ts";
import { verifyWebhook, type WebhookRequest } from "../../src/webhooks/verify.ts";
import { answerError, answerJson, fakeGateway } from "./fake-gateway.ts";

const STREAM = "/workspace/acme/stt-webhook/stream";
const secret = makeSecret();

function event() {
  const id = newId("event");
  const signed = signedRequest(
    {
      event: {
        type: "transcription.job.succeeded",
        job_id: newId("job"),
        status: "succeeded",
        occurred_at: new Date().toISOString(),
      },
      eventId: id,
      secrets: { current: secret, previous: null },
      isTest: false,
    },
    Date.now(),
  );
  return { object: "stt_webhook_stream_delivery", id, ...signed };
}

function openStream(response: ServerResponse, sessionSecret: string | null): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const data = { object: "stt_webhook_stream", secret: sessionSecret, secret_last4: secret.slice(-4) };
  response.write(eventText({ event: "ready", data }));
}

/** A receiver that answers with these statuses in turn. */
async function receiver(statuses: readonly number[]) {
  const requests: Pick<WebhookRequest, "body" | "headers">[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(statuses[requests.length - 1] ?? 204, { location: "http://127.0.0.1:1/" }).end("thanks");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    requests,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function terminal(env: Readonly<Record<string, string>> = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const lines = (stream: PassThrough) => {
    const iterator = createInterface({ input: stream })[Symbol.asyncIterator]();
    return async () => String((await iterator.next()).value);
  };
  return {
    terminal: { stdin: Readable.from([]), stdout, stderr, env, cwd: import.meta.dirname },
    out: lines(stdout),
    note: lines(stderr),
  };
}

test("cli.listen: the last event of a stream is read, too, where lines end with a carriage return alone", async () => {
  const wire = 'event: chat.delta\rdata: {"text":""}\r\r';
  for (let cut = 0; cut < wire.length; cut += 1) {
    const pieces = [wire.slice(0, cut), wire.slice(cut)].map((piece) => Buffer.from(piece));
    const events = await Array.fromAsync(readEvents(ReadableStream.from(pieces)));
    assert.deepEqual(events, [{ name: "chat.delta", data: { text: "" } }], `cut at ${cut}`);
  }
});

test("cli.listen, webhooks.listen: each event reaches the local receiver byte for byte, with its signature, and is reported", async (t) => {
  const events = [event(), event(), event()];
  await using gateway = await fakeGateway((response, { path }) => {
    if (path === "/v1/me") return answerJson(response, 200, { workspace: { slug: "acme" } });
    openStream(response, null);
    response.write(": ping\n\n");
    for (const data of events) response.write(eventText({ event: "delivery", data }));
  });
  using local = await receiver([204, 302, 500]);
  const { terminal: streams, out, note } = terminal();
  const stop = new AbortController();
  t.after(() => stop.abort());
  const options = { forwardTo: local.url, url: gateway.url, apiKey: "admin-key" };
  const listening = listen(options, streams, stop.signal);
  for (const [index, status] of [204, 302, 500].entries()) {
    const body = JSON.parse(events[index]?.body ?? "") as { job_id: string };
    assert.match(await out(), new RegExp(`transcription\\.job\\.succeeded  ${body.job_id}  ${status}  [0-9]+ ms$`));
  }
  assert.match(await note(), /workspace acme to http:\/\/127\.0\.0\.1/);
  assert.match(await note(), /webhook \(it ends in /);
  stop.abort(new CliError(EXIT.interrupted, "Interrupted."));
  await assert.rejects(listening, { exitCode: EXIT.interrupted });
  assert.equal(local.requests.length, 3, "redirects are not followed");
  for (const [index, request] of local.requests.entries()) {
    const verdict = verifyWebhook({ ...request, secret });
    assert(verdict.ok);
    assert.equal(verdict.id, events[index]?.id);
    assert.equal(String(request.body), events[index]?.body);
  }
  assert.deepEqual(
    gateway.received.map(({ path, headers }) => [path, headers.authorization]),
    [
      ["/v1/me", "Bearer admin-key"],
      [STREAM, "Bearer admin-key"],
    ],
  );
});

test("cli.listen: after a broken connection it continues behind the last event, and delivers none twice", async (t) => {
  const [first, second] = [event(), event()];
  await using gateway = await fakeGateway((response, _request, count) => {
    openStream(response, "whsec_of-this-session");
    response.write(eventText({ event: "delivery", data: first }));
    if (count === 1) response.end();
    else response.write(eventText({ event: "delivery", data: second }));
  });
  using local = await receiver([]);
  const { terminal: streams, out, note } = terminal({ PATCHBAY_API_KEY: "admin-key", PATCHBAY_URL: gateway.url });
  const stop = new AbortController();
  t.after(() => stop.abort());
  const listening = listen({ forwardTo: local.url, workspace: "acme", json: true }, streams, stop.signal);
  const reported = [JSON.parse(await out()), JSON.parse(await out())] as { event_id: string; status_code: number }[];
  assert.deepEqual(
    reported.map(({ event_id: id, status_code: code }) => [id, code]),
    [
      [first.id, 204],
      [second.id, 204],
    ],
  );
  assert.match(`${await note()}${await note()}`, /signed with whsec_of-this-session/);
  stop.abort(new CliError(EXIT.interrupted, "Interrupted."));
  await assert.rejects(listening);
  assert.equal(local.requests.length, 2);
  assert.equal(gateway.received[1]?.path, `${STREAM}?after=${first.id}`);
});

test("cli.listen: an unavailable receiver is reported, and listening continues", async (t) => {
  await using gateway = await fakeGateway((response) => {
    openStream(response, null);
    response.write(eventText({ event: "delivery", data: event() }));
  });
  const { terminal: streams, out } = terminal();
  const stop = new AbortController();
  t.after(() => stop.abort());
  const options = { forwardTo: "127.0.0.1:1", workspace: "acme", json: true, url: gateway.url, apiKey: "admin-key" };
  const listening = listen(options, streams, stop.signal);
  const { status_code: status, error } = JSON.parse(await out()) as { status_code: null; error: string };
  assert.deepEqual([status, error === ""], [null, false]);
  stop.abort(new CliError(EXIT.interrupted, "Interrupted."));
  await assert.rejects(listening, { exitCode: EXIT.interrupted });
});

test("cli.exit-codes: a key without the right, an unknown workspace and a wrong --forward-to end listen with their exit codes", async () => {
  await using gateway = await fakeGateway((response, { path }) =>
    path.startsWith("/workspace/acme/")
      ? answerError(response, 403, "FORBIDDEN")
      : answerError(response, 404, "NOT_FOUND"),
  );
  const run = (workspace: string, forwardTo: string) =>
    listen(
      { forwardTo, workspace, url: gateway.url, apiKey: "key" },
      terminal().terminal,
      AbortSignal.timeout(300_000),
    );
  await assert.rejects(run("acme", "localhost:1"), { exitCode: EXIT.auth });
  await assert.rejects(run("elsewhere", "localhost:1"), { exitCode: EXIT.notFound });
  await assert.rejects(run("acme", "http://"), { exitCode: EXIT.usage });
});
