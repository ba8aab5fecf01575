// The address by which the gateway speaks of itself (contract 10, `server.public_url`), where the system chooses its port.
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { errorBody } from "../../../src/contract/error-body.ts";
import { publicUrlOf } from "../../../src/http/listen.ts";
import { standardFile, startGateway } from "../../harness/gateway.ts";

test("contract 1: doc_url leads to the page also where the port was chosen by the system", async () => {
  await using opened = new AsyncDisposableStack();
  const gateway = await startGateway({ file: (sandbox) => ({ ...standardFile(sandbox), server: { port: 0 } }) });
  opened.defer(() => gateway.close());
  const refused = await fetch(`${gateway.origin}/v1/transcription`, { method: "POST" });
  const { error } = errorBody.parse(await refused.json());
  assert.equal(error.doc_url, `${gateway.origin}/docs/errors#UNAUTHENTICATED`);
  const page = await fetch(error.doc_url);
  assert.deepEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
});

test("contract 10: an address that was set stays as it was set; port 0 is the one listened on, once there is one", () => {
  const listening = { addresses: () => [{ address: "127.0.0.1", family: "IPv4", port: 4321 }] };
  assert.equal(publicUrlOf("https://stt.example.com/gateway", () => listening)(), "https://stt.example.com/gateway");
  assert.equal(publicUrlOf("http://[::1]:0", () => listening)(), "http://[::1]:4321");
});

test("contract 10: the port that was listened on is named as long as requests are answered, before it by 0", () => {
  let addresses: AddressInfo[] = [];
  const publicUrl = publicUrlOf("http://127.0.0.1:0", () => ({ addresses: () => addresses }));
  assert.equal(publicUrl(), "http://127.0.0.1:0");
  addresses = [{ address: "127.0.0.1", family: "IPv4", port: 4321 }];
  assert.equal(publicUrl(), "http://127.0.0.1:4321");
  addresses = [];
  assert.equal(publicUrl(), "http://127.0.0.1:4321");
});
