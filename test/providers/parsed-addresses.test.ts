// Which parsed addresses of providers are kept: those of every call, and nothing of a caller's.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outbound, OutboundRequest } from "../../src/outbound/dial.ts";
import { createIo } from "../../src/providers/wire/make-io.ts";
import { testReplies } from "../harness/replies.ts";

async function addressOf(terms: readonly string[]): Promise<URL> {
  const seen: URL[] = [];
  const outbound = {
    exchange: async (request: OutboundRequest) => {
      seen.push(request.url);
      return { status: 200, headers: {}, text: "" };
    },
  } as unknown as Outbound;
  const io = createIo({
    outbound,
    replies: testReplies(),
    baseUrl: "http://127.0.0.1:9090/deepgram",
    credential: null,
    signal: new AbortController().signal,
    deadlineMs: 1000,
  });
  const query = terms.map((term): [string, string] => ["keywords", term]);
  await io.send({ method: "POST", path: "/v1/listen", query: [["model", "nova-2"], ...query], headers: {} });
  const [url] = seen;
  assert.ok(url);
  return url;
}

test("providers.address-cache: R13, an address is parsed once for all its calls, and one with a caller's long list of words is not kept", async () => {
  assert.equal(await addressOf([]), await addressOf([]));
  const terms = Array.from({ length: 100 }, (_, at) => `漢字${at}`);
  const url = await addressOf(terms);
  assert.deepEqual(url.searchParams.getAll("keywords"), terms);
  assert.notEqual(await addressOf(terms), url);
});
