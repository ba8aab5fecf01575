// The address of the gateway in its own links (`server.public_url`), where the system chooses its port.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "undici";
import { errorBody } from "../../../src/contract/error-body.ts";
import { stopListening } from "../../../src/http/server/connections.ts";
import { publicUrlOf } from "../../../src/http/server/listen.ts";
import { standardFile, startGateway } from "../../harness/gateway.ts";

test("errors.doc-url: doc_url leads to the page also where the system chose the port, and names it after the process stopped listening", async () => {
  await using opened = new AsyncDisposableStack();
  const gateway = await startGateway({ file: (sandbox) => ({ ...standardFile(sandbox), server: { port: 0 } }) });
  opened.defer(() => gateway.close());
  const kept = new Client(gateway.origin);
  opened.defer(() => kept.destroy());
  const docUrl = await docUrlOfARefusal(kept);
  assert.equal(docUrl, `${gateway.origin}/docs/errors#UNAUTHENTICATED`);
  const page = await fetch(docUrl);
  assert.deepEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  stopListening(gateway.app.server.server);
  assert.equal(await docUrlOfARefusal(kept), docUrl);
});

test("api.public-url: a configured address stays as it was set; port 0 is the one listened on, where there is one", () => {
  assert.equal(publicUrlOf("https://stt.example.com/gateway", { port: 4321 }), "https://stt.example.com/gateway");
  assert.equal(publicUrlOf("http://[::1]:0", { port: 4321 }), "http://[::1]:4321");
  assert.equal(publicUrlOf("http://127.0.0.1:0", null), "http://127.0.0.1:0");
});

async function docUrlOfARefusal(client: Client): Promise<string> {
  const { body } = await client.request({ method: "POST", path: "/v1/transcription" });
  return errorBody.parse(await body.json()).error.doc_url;
}
