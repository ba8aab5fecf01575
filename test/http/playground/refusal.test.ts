// What the playground does not serve: whatever is not on its list, however it is spelled.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { json } from "node:stream/consumers";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { errorBody } from "../../../src/contract/error-body.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

/** As it is written: `fetch` would tidy the path. */
async function ask(method: string, path: string): Promise<{ readonly status: number; readonly code: string }> {
  const { hostname, port } = new URL(gateway.origin);
  const asked = request({ hostname, port, path, method }).end();
  const [reply] = (await once(asked, "response")) as [IncomingMessage];
  return { status: reply.statusCode ?? 0, code: errorBody.parse(await json(reply)).error.code };
}

test("console.files: a file that is not on the list is 404, and no path leads out of it", async () => {
  for (const path of [
    "/playground/playground/secrets.ts",
    "/playground/playground/main.js",
    "/playground/playground/tsconfig.json",
    "/playground/contract/transcription.ts",
    "/playground/gateway/transcribe.ts",
    "/playground/../package.json",
    "/playground/playground/..%2f..%2f..%2fpackage.json",
    "/playground/%2e%2e/main.ts",
    "/playground/..%5c..%5cmain.ts/x",
    "/playground/sample/dialogue.mp3%00",
    "/playground/__proto__/constructor",
    "/playground/",
    "/playground/playground",
  ]) {
    const { status, code } = await ask("GET", path);
    assert.ok(
      (status === 404 && code === "NOT_FOUND") || (status === 400 && code === "INVALID_REQUEST"),
      `${path}: ${status} ${code}`,
    );
  }
});

test("console.files: the page accepts reads only", async () => {
  for (const path of ["/playground", "/playground/page/style.css"])
    for (const method of ["POST", "PUT", "DELETE"])
      assert.deepEqual(await ask(method, path), { status: 405, code: "METHOD_NOT_ALLOWED" }, `${method} ${path}`);
});
