// Another model under the asked name, for each kind of provider whose answers say it: recorded, counted, and refused where the route requires the exact one.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { submittedJob } from "../../../src/contract/jobs.ts";
import { HELLO, postChat, streamChat } from "../../harness/chat-client.ts";
import { beginStream, completion, json } from "../../harness/chat-upstream.ts";
import { type Answer, postForm } from "../../harness/client.ts";
import { type ConfigurationParts, type ConnectionSettings, configurationWith } from "../../harness/configuration.ts";
import { scrape } from "../../telemetry/scrape.ts";
import { type ChatGateway, startChatGateway } from "../chat/chat-gateway.ts";
import { ended } from "../jobs/jobs.ts";
import { recordOf } from "./records.ts";

interface Kind {
  readonly id: string;
  readonly kind: string;
  readonly path: string;
  /** The sandbox's name of the protocol. */
  readonly wire: "openai" | "compatible" | "anthropic" | "gemini" | "deepgram" | "assemblyai";
  readonly other: string;
  readonly does: "chat" | "speech";
  /** Another model is refused without being asked to. */
  readonly isAlwaysExact?: true;
}

const KINDS: readonly Kind[] = [
  { id: "openai", kind: "openai", path: "oa/gpt-4o", wire: "openai", other: "gpt-4o-mini-2024-07-18", does: "chat" },
  { id: "vllm", kind: "openai-compatible", path: "vl/llama", wire: "compatible", other: "qwen", does: "chat" },
  {
    id: "anthropic",
    kind: "anthropic",
    path: "an/claude-haiku-4-5",
    wire: "anthropic",
    other: "claude-3-haiku",
    does: "chat",
  },
  {
    id: "gemini",
    kind: "gemini",
    path: "gm/gemini-3.8-flash",
    wire: "gemini",
    other: "gemini-3.6-flash",
    does: "chat",
  },
  {
    id: "gemini-audio",
    kind: "gemini",
    path: "gm/gemini-3.8-flash",
    wire: "gemini",
    other: "gemini-3.6-flash",
    does: "speech",
  },
  {
    id: "gemini-transcribe",
    kind: "gemini",
    path: "gm/gemini-3.5-transcribe",
    wire: "gemini",
    other: "gemini-4-transcribe",
    does: "speech",
  },
  {
    id: "mistral-audio",
    kind: "openai-compatible",
    path: "mi/voxtral-mini-2602",
    wire: "compatible",
    other: "voxtral-small-2507",
    does: "speech",
  },
  {
    id: "deepgram",
    kind: "deepgram",
    path: "dg/nova-3",
    wire: "deepgram",
    other: "nova-2",
    does: "speech",
    isAlwaysExact: true,
  },
  {
    id: "assemblyai",
    kind: "assemblyai",
    path: "aa/universal-2",
    wire: "assemblyai",
    other: "universal-3-5-pro",
    does: "speech",
    isAlwaysExact: true,
  },
];

const keyOf = (id: string, route: "any" | "exact" | "next"): string => `test-key-of-${id}-${route}-000001`;
const modelOf = ({ path }: Kind): string => path.slice(path.indexOf("/") + 1);
const NEXT = { chat: "sim/simulated-chat", speech: "sim/simulated-speech" } as const;
const SCRIPTED_KEY = "test-key-of-the-scripted-server-1";
const PLAIN_AUDIO_KEY = "test-key-of-the-plain-server-0001";
const NAMED_AUDIO_KEY = "test-key-of-the-named-server-0001";
/** An app of this key sees no names. */
const BLIND_KEY = "test-key-without-routing-read-01";

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway({ file: configurationOf });
});
afterEach(() => gateway.sandbox.clearFaults());
after(() => gateway.close());

function configurationOf({ connections: scripted = [] }: ConfigurationFile, sandbox: Sandbox): ConfigurationFile {
  const compatible = (
    dialect: "vllm" | "mistral",
    model: string,
    does: "chat" | "audio_input",
  ): ConnectionSettings => ({
    kind: "openai-compatible",
    base_url: sandbox.compatibleUrl(dialect),
    models: { [model]: { capabilities: [does], dialect } },
  });
  const routes: Record<string, NonNullable<ConfigurationParts["routes"]>[string]> = {};
  const apps: Record<string, NonNullable<ConfigurationParts["apps"]>[string]> = {};
  for (const { id, path, does } of KINDS) {
    routes[`${id}-any`] = path;
    routes[`${id}-exact`] = { targets: path, require_exact_model: true };
    routes[`${id}-next`] = { targets: [path, NEXT[does]], require_exact_model: true };
    for (const route of ["any", "exact", "next"] as const)
      apps[`${id}-${route}`] = { route: `${id}-${route}`, key: keyOf(id, route) };
  }
  const file = configurationWith(sandbox, {
    scopes: ["transcribe", "chat", "jobs", "routing:read"],
    connections: {
      an: "anthropic",
      gm: "gemini",
      vl: compatible("vllm", "llama", "chat"),
      mi: compatible("mistral", "voxtral-mini-2602", "audio_input"),
    },
    routes: {
      ...routes,
      scripted: { targets: ["first/one"], require_exact_model: true },
      "plain-audio": { targets: ["first/whisper"], require_exact_model: true },
      "named-audio": {
        targets: [{ connection: "first", model: "whisper", settings: { answers_as: "large-v3" } }],
        require_exact_model: true,
      },
    },
    apps: {
      ...apps,
      blind: { route: "gemini-any", scopes: ["chat"], key: BLIND_KEY },
      scripted: { route: "scripted", key: SCRIPTED_KEY },
      "plain-audio": { route: "plain-audio", key: PLAIN_AUDIO_KEY },
      "named-audio": { route: "named-audio", key: NAMED_AUDIO_KEY },
    },
  });
  const first = scripted
    .filter(({ id }) => id === "first")
    .map((each) => ({ ...each, models: { ...each.models, whisper: { capabilities: ["audio_input" as const] } } }));
  return { ...file, connections: [...(file.connections ?? []), ...first] };
}

const swap = ({ wire, other, path }: Kind): void => {
  const model = path.slice(path.indexOf("/") + 1);
  // A run is submitted first; its answer is the poll.
  for (const step of wire === "assemblyai" ? (["submit", "poll"] as const) : (["submit"] as const))
    gateway.sandbox.addFault({ wire, model, step, fault: { kind: "other_model", name: other } });
};

const send = ({ does }: Kind, key: string): Promise<Answer> =>
  does === "chat" ? postChat(gateway.origin, { messages: HELLO }, { key }) : postForm(gateway.origin, { key });

const counted = async ({ kind, does, ...each }: Kind, outcome: "used" | "withheld"): Promise<number> => {
  const { value } = await scrape(gateway.adminOrigin);
  const operation = does === "chat" ? "chat" : "transcription";
  return value(
    `svc_model_substitutions_total{provider="${kind}",model="${each.path.slice(each.path.indexOf("/") + 1)}",operation="${operation}",outcome="${outcome}"}`,
  );
};

for (const each of KINDS) {
  const { id, other, isAlwaysExact } = each;
  if (isAlwaysExact !== true) {
    test(`providers.answered-model: ${id}: the asked model is a receipt, and no substitution`, async () => {
      const answer = await send(each, keyOf(id, "exact"));
      assert.equal(answer.status, 200, answer.text);
      const [attempt] = (await recordOf(gateway, answer, keyOf(id, "exact"))).attempts;
      assert.deepEqual(attempt?.receipts.at(-1), {
        feature: "model",
        grade: "echoed",
        delivered: true,
        answered: modelOf(each),
      });
      assert.equal(await counted(each, "used"), 0);
    });

    test(`requests.answered-model, metrics.substitutions: ${id}: an answer by another model is used, recorded and counted`, async () => {
      const before = await counted(each, "used");
      swap(each);
      const answer = await send(each, keyOf(id, "any"));
      assert.equal(answer.status, 200, answer.text);
      const record = await recordOf(gateway, answer, keyOf(id, "any"));
      const [attempt] = record.attempts;
      assert.deepEqual(
        [attempt?.outcome, attempt?.model, attempt?.receipts.at(-1)],
        ["succeeded", modelOf(each), { feature: "model", grade: "echoed", delivered: false, answered: other }],
      );
      assert.match(record.summary, new RegExp(`answered with ${other}\\.$`, "u"));
      assert.equal(await counted(each, "used"), before + 1);
    });
  }

  const exact = isAlwaysExact === true ? "any" : "exact";
  test(`routing.exact-model: ${id}: where the exact model is required, an answer by another one is withheld, recorded, counted and free`, async () => {
    const before = await counted(each, "withheld");
    swap(each);
    const answer = await send(each, keyOf(id, exact));
    assert.deepEqual([answer.status, answer.code], [502, "FEATURE_NOT_DELIVERED"], answer.text);
    const { attempts, usage } = await recordOf(gateway, answer, keyOf(id, exact));
    assert.equal(attempts.length, 1);
    assert.equal(attempts[0]?.outcome, "failed:feature_dropped");
    const [receipt] = attempts[0]?.receipts ?? [];
    assert.deepEqual([receipt?.feature, receipt?.delivered], ["model", false]);
    assert.ok(receipt?.answered?.includes(other), receipt?.answered);
    assert.equal(Number(usage.charge_usd), 0);
    assert.equal(await counted(each, "withheld"), before + 1);
  });

  test(`routing.exact-model: ${id}: the next target serves instead`, async () => {
    swap(each);
    const answer = await send(each, keyOf(id, "next"));
    assert.equal(answer.status, 200, answer.text);
    const { attempts } = await recordOf(gateway, answer, keyOf(id, "next"));
    assert.deepEqual(
      attempts.map(({ position, outcome }) => [position, outcome]),
      [
        [1, "failed:feature_dropped"],
        [2, "succeeded"],
      ],
    );
  });

  if (each.does === "chat")
    test(`routing.exact-model: ${id}: a stream is refused before any content was sent`, async () => {
      swap(each);
      const refused = await streamChat(gateway.origin, { messages: HELLO }, { key: keyOf(id, "exact") });
      assert.equal(refused.status, 502);
      const served = await streamChat(gateway.origin, { messages: HELLO }, { key: keyOf(id, "next") });
      assert.equal(served.status, 200);
      const tolerated = await streamChat(gateway.origin, { messages: HELLO }, { key: keyOf(id, "any") });
      assert.equal(tolerated.status, 200);
    });
}

test("requests.answered-model: callers without routing:read see that another model answered, not which", async () => {
  const gemini = KINDS.find(({ id }) => id === "gemini") ?? assert.fail("no kind");
  swap(gemini);
  const answer = await send(gemini, BLIND_KEY);
  const { attempts, summary } = await recordOf(gateway, answer, BLIND_KEY);
  assert.deepEqual(attempts[0]?.receipts, [{ feature: "model", grade: "echoed", delivered: false }]);
  assert.ok(!summary.includes(gemini.other), summary);
});

test("requests.answered-model, routing.exact-model: so it is for jobs", async () => {
  const audio = KINDS.find(({ id }) => id === "gemini-audio") ?? assert.fail("no kind");
  swap(audio);
  for (const [route, status] of [
    ["any", "succeeded"],
    ["exact", "failed"],
  ] as const) {
    const key = keyOf(audio.id, route);
    const submitted = await postForm(gateway.origin, { path: "/v1/transcription/jobs", key });
    const { job_id: job } = submittedJob.parse(submitted.json);
    assert.equal((await ended(gateway.origin, job, key)).status, status);
    const [attempt] = (await recordOf(gateway, submitted, key)).attempts;
    assert.equal(attempt?.receipts.at(-1)?.answered, audio.other);
  }
});

const event = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`;
const delta = (content: string, fields: object = {}): string =>
  event({ ...fields, choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const END = `${event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}data: [DONE]\n\n`;
const scripted = async (...events: readonly string[]) => {
  gateway.first.behave((call) => {
    beginStream(call);
    call.response.end(events.join(""));
  });
  return streamChat(gateway.origin, { messages: HELLO }, { key: SCRIPTED_KEY });
};

test("routing.exact-model: a stream whose first event has an empty name, as Azure's, is judged by the next", async () => {
  const streamed = await scripted(event({ model: "", choices: [] }), delta("Hi", { model: "one" }), END);
  assert.equal(streamed.status, 200);
  assert.equal(streamed.events.at(-1)?.event, "chat.completed");
});

test("routing.exact-model: a server of a protocol with a model field that reports none proves nothing", async () => {
  assert.equal((await scripted(delta("Hi"), END)).status, 502);
  gateway.first.behave((call) =>
    json(call, 200, { ...completion({ role: "assistant", content: "Hi" }, "stop"), model: null }),
  );
  const answer = await postChat(gateway.origin, { messages: HELLO }, { key: SCRIPTED_KEY });
  assert.deepEqual([answer.status, answer.code], [502, "FEATURE_NOT_DELIVERED"]);
  assert.match((await recordOf(gateway, answer, SCRIPTED_KEY)).summary, /reported no model/u);
});

test("routing.exact-model: of a stream that another model continues nothing is sent, if its events are received together", async () => {
  assert.equal((await scripted(delta("Hi", { model: "one" }), delta(" there", { model: "two" }), END)).status, 502);
});

test("routing.exact-model: a stream that another model continues ends with an error", async () => {
  const received = Promise.withResolvers<void>();
  gateway.first.behave(async (call) => {
    beginStream(call);
    call.response.write(delta("Hi", { model: "one" }));
    await received.promise;
    call.response.end(`${delta(" there", { model: "two" })}${END}`);
  });
  const streamed = await streamChat(
    gateway.origin,
    { messages: HELLO },
    { key: SCRIPTED_KEY, onEvent: ({ data }) => void (JSON.stringify(data).includes("Hi") && received.resolve()) },
  );
  assert.equal(streamed.status, 200);
  const last = streamed.events.at(-1);
  assert.equal(last?.event, "error");
  assert.match(JSON.stringify(last.data), /FEATURE_NOT_DELIVERED/u);
  assert.ok(!streamed.text.includes(" there"));
});

test("requests.answered-model: a text that is no name is not recorded", async () => {
  gateway.first.behave((call) =>
    json(call, 200, { ...completion({ role: "assistant", content: "Hi" }, "stop"), model: "Hello,\nyou <b>wrote</b>" }),
  );
  const answer = await postChat(gateway.origin, { messages: HELLO }, { key: SCRIPTED_KEY });
  const { attempts } = await recordOf(gateway, answer, SCRIPTED_KEY);
  assert.equal(attempts[0]?.receipts[0]?.answered, "(not a name)");
});

test("providers.answered-model, routing.exact-model: a server whose protocol for audio has no model field is judged where it reports one", async () => {
  const transcribe = async (fields: object) => {
    gateway.first.behave((call) => json(call, 200, { text: "Hi", ...fields }));
    const answer = await postForm(gateway.origin, { key: PLAIN_AUDIO_KEY });
    const [attempt] = (await recordOf(gateway, answer, PLAIN_AUDIO_KEY)).attempts;
    return [answer.status, attempt?.receipts.find(({ feature }) => feature === "model")];
  };
  const receipt = { feature: "model", grade: "echoed" };
  assert.deepEqual(await transcribe({ model: "small" }), [502, { ...receipt, delivered: false, answered: "small" }]);
  assert.deepEqual(await transcribe({ model: "openai/Whisper" }), [
    200,
    { ...receipt, delivered: true, answered: "openai/Whisper" },
  ]);
  assert.deepEqual(await transcribe({}), [200, undefined]);
});

test("routing.exact-model: answers_as names the model in the answers of an audio server", async () => {
  const statusOf = async (model: string) => {
    gateway.first.behave((call) => json(call, 200, { text: "Hi", model }));
    return (await postForm(gateway.origin, { key: NAMED_AUDIO_KEY })).status;
  };
  assert.deepEqual([await statusOf("large-v3"), await statusOf("whisper")], [200, 502]);
});
