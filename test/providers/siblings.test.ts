// A provider on several hosts: each path goes to its own where the base URL is the provider's, and nowhere else otherwise.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outbound, OutboundRequest } from "../../src/outbound/dial.ts";
import { createIo } from "../../src/providers/wire/make-io.ts";
import { testReplies } from "../harness/replies.ts";

for (const [baseUrl, expected] of [
  ["https://us-speech.googleapis.com", "https://storage.googleapis.com/x"],
  ["https://us-speech.googleapis.com/", "https://storage.googleapis.com/x"],
  ["https://api.assemblyai.com", "https://streaming.assemblyai.com/x"],
  ["https://api.eu.assemblyai.com", "https://streaming.eu.assemblyai.com/x"],
  ["http://127.0.0.1:9090/google-speech", "http://127.0.0.1:9090/google-speech/x"],
  ["https://speech.example.com", "https://speech.example.com/x"],
  ["https://evilgoogleapis.com", "https://evilgoogleapis.com/x"],
  ["https://googleapis.com.evil.example", "https://googleapis.com.evil.example/x"],
] as const) {
  test(`providers.base-url: with the base URL ${baseUrl} the path of another host of the provider goes to ${expected}`, async () => {
    const seen: string[] = [];
    const outbound = {
      exchange: async (request: OutboundRequest) => {
        seen.push(request.url.href);
        return { status: 200, headers: {}, text: "" };
      },
    } as unknown as Outbound;
    const io = createIo({
      replies: testReplies(),
      outbound,
      baseUrl,
      credential: null,
      signal: new AbortController().signal,
      deadlineMs: 1000,
    });
    const siblings = [
      { domain: "eu.assemblyai.com", origin: "https://streaming.eu.assemblyai.com" },
      { domain: "assemblyai.com", origin: "https://streaming.assemblyai.com" },
      { domain: "googleapis.com", origin: "https://storage.googleapis.com" },
    ];
    await io.send({ method: "GET", path: "/x", headers: {}, siblings });
    assert.deepEqual(seen, [expected]);
  });
}
