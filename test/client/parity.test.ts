// What the contract offers to an app, `patchbay-gateway/client` offers too: every endpoint, and every field by its type.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ChatOptions,
  type JobListOptions,
  type JobOptions,
  Patchbay,
  type TranscriptionOptions,
  type TranslationOptions,
  type UsageOptions,
} from "../../src/client/client.ts";
import type { ChatRequest } from "../../src/contract/chat/chat-request.ts";
import { ENDPOINTS } from "../../src/contract/endpoints/endpoints.ts";
import type { Job, jobListQuery, JobRequestFields } from "../../src/contract/jobs.ts";
import type { TranscriptionFields, TranslationFields } from "../../src/contract/transcription/transcription-fields.ts";
import type { usageQuery } from "../../src/contract/usage.ts";

/** Of the paths that begin so, or are just that: why no method leads there. */
const WITHOUT_METHOD: Readonly<Record<string, string>> = {
  "/v1/audio/": "for OpenAI's own clients",
  "/v1/chat/completions": "for OpenAI's own clients",
  "/v1/models": "for OpenAI's own clients",
  "/v1/models/": "for OpenAI's own clients",
  "/mcp": "for clients of the Model Context Protocol",
  "/v1/me/limits": "another name of /v1/melimits",
  "/v1/transcription/realtime": "a WebSocket, which the platform opens with the token of realtimeToken()",
  "/workspace/": "administration, with another key: `patchbay api`",
  "/healthz": "for the operator of the gateway",
  "/readyz": "for the operator of the gateway",
  "/openapi.json": "documentation",
  "/docs": "documentation",
  "/docs/": "documentation",
  "/web/": "what pages load",
  "/llms.txt": "documentation",
  "/console": "a page",
  "/console/": "what the page loads",
  "/playground": "a page",
  "/playground/": "what the page loads",
};
const isWithoutMethod = (path: string): boolean =>
  path === "/" ||
  Object.keys(WITHOUT_METHOD).some((left) => (left.endsWith("/") ? path.startsWith(left) : path === left));

test("client.every-endpoint: every endpoint for apps has its method in the client, or a documented reason", async () => {
  // Names of parameters in the place of ids: what is called is spelled as the contract spells it.
  const called = new Set<string>();
  const patchbay = new Patchbay({
    apiKey: "key",
    baseUrl: "http://gateway",
    fetch: async (...given) => {
      const { method, url } = new Request(...given);
      called.add(`${method} ${decodeURIComponent(new URL(url).pathname)}`);
      return new Response("{}");
    },
  });
  const audio = new Blob(["audio"]);
  const ended = { result: null, result_url: "/v1/transcription/results/:token" } as Job;
  await Promise.all([
    patchbay.transcribe(audio),
    patchbay.translate(audio),
    patchbay.chat({ messages: [] }),
    patchbay.usage(),
    patchbay.limits(),
    patchbay.me(),
    patchbay.request(":request_id"),
    patchbay.realtimeToken(),
    patchbay.jobs.submit(audio),
    patchbay.jobs.get(":job_id"),
    patchbay.jobs.list(),
    patchbay.jobs.cancel(":job_id"),
    patchbay.jobs.captions(":job_id", "srt"),
    patchbay.jobs.result(ended),
  ]);
  const offered = ENDPOINTS.filter(({ path }) => !isWithoutMethod(path)).map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual([...called].toSorted(), offered.toSorted());
  for (const left of Object.keys(WITHOUT_METHOD))
    assert.ok(
      ENDPOINTS.some(({ path }) => (left.endsWith("/") ? path.startsWith(left) : path === left)),
      `there is no ${left}`,
    );
});

type Equal<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;
type ByMethod = "mode" | "stream" | "dry_run";
type Takes<Options, Fields> = Fields extends Options ? true : false;

test("client.types: the types accept every field of a request, except what the method says", () => {
  assert.ok(true satisfies Equal<keyof TranscriptionOptions, Exclude<keyof TranscriptionFields, ByMethod>>);
  assert.ok(true satisfies Equal<keyof TranslationOptions, Exclude<keyof TranslationFields, ByMethod>>);
  assert.ok(true satisfies Equal<keyof JobOptions, Exclude<keyof JobRequestFields, ByMethod>>);
  assert.ok(true satisfies Equal<keyof ChatOptions, Exclude<keyof ChatRequest, ByMethod>>);
  assert.ok(true satisfies Equal<keyof JobListOptions, keyof (typeof jobListQuery)["shape"]>);
  assert.ok(true satisfies Equal<keyof UsageOptions, keyof (typeof usageQuery)["shape"]>);
  // What the gateway takes, the types take, each field with all its values.
  assert.ok(true satisfies Takes<TranscriptionOptions, TranscriptionFields>);
  assert.ok(true satisfies Takes<TranslationOptions, TranslationFields>);
  assert.ok(true satisfies Takes<JobOptions, JobRequestFields>);
  assert.ok(true satisfies Takes<ChatOptions, ChatRequest>);
});

test("client.types: the types accept no model, no provider, and nothing that a method does not do", () => {
  const typed = (patchbay: Patchbay): readonly unknown[] => [
    // @ts-expect-error the route of the key picks the model
    patchbay.chat({ messages: [], model: "gpt-9" }),
    // @ts-expect-error and the provider
    patchbay.transcribe(new Blob(), { provider: "deepgram" }),
    // @ts-expect-error a stream is another method
    patchbay.chat({ messages: [], stream: true }),
    // @ts-expect-error a job is another method
    patchbay.transcribe(new Blob(), { mode: "async" }),
    // @ts-expect-error a stream takes no key
    patchbay.chatStream({ messages: [] }, { idempotencyKey: "mine" }),
  ];
  assert.equal(typeof typed, "function");
});
