// The facts of each provider, with and without each of them, and the audit of the parameters that a proof depends on: what is sent, by adapter and mode.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DataPolicyRequirement, DataPolicyStatement } from "../../src/contract/settings/data-policy.ts";
import type { ChatPlanResult, ChatRequest } from "../../src/providers/chat/chat-provider.ts";
import { PROVIDER_KINDS, type ProviderKind, type SpeechModel } from "../../src/providers/provider.ts";
import { policyFactsOf } from "../../src/providers/data-policy/facts-of.ts";
import type { PolicyUse } from "../../src/providers/data-policy/policy-fact.ts";
import { hostOf, regionalHost, regionsOf } from "../../src/providers/data-policy/regional-hosts.ts";
import { VENDOR_FACTS } from "../../src/providers/data-policy/vendor-facts.ts";
import { chatProviders, providers } from "../../src/providers/registry.ts";
import { targetDataPolicy } from "../../src/directory/target-data-policy.ts";
import { judgeDataPolicy, requiredDataPolicy } from "../../src/routing/data-policy.ts";
import { requestFor } from "./suites/fixtures.ts";

const REQUIREMENTS: Readonly<Record<string, DataPolicyRequirement>> = {
  training: { training: "never" },
  none: { retention: "none" },
  deletable: { retention: "deletable" },
  "30 days": { retention: 30 },
  eu: { regions: ["eu"] },
  us: { regions: ["us"] },
  in: { regions: ["in"] },
};

function defaultUrl(kind: ProviderKind): string | null {
  return providers.get(kind)?.defaultBaseUrl ?? chatProviders.get(kind)?.defaultBaseUrl ?? null;
}

interface Account {
  readonly kind: ProviderKind;
  /** A region, `default`, or an address. */
  readonly at: string;
  readonly use: PolicyUse;
  /** Default: one that a provider's page names, if it names any. */
  readonly model?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly statement?: DataPolicyStatement;
}

function factsOf({ kind, at, use, model = "gpt-5.5", statement = {} }: Account) {
  const baseUrl = at === "default" ? null : (regionalHost(kind, at)?.baseUrl ?? at);
  return policyFactsOf({ kind, baseUrl, statement }, { model, uses: [use] }, defaultUrl(kind));
}

function judged(account: Account, requirement: DataPolicyRequirement) {
  return judgeDataPolicy(requiredDataPolicy(requirement), factsOf(account), account.settings ?? {});
}

function metBy(account: Account): readonly string[] {
  return Object.entries(REQUIREMENTS).flatMap(([name, requirement]) =>
    judged(account, requirement).missing.length === 0 ? [name] : [],
  );
}

/** From the providers' pages, not from the data: what an account proves, and nothing else. */
const PROVEN: readonly (readonly [kind: ProviderKind, at: string, use: PolicyUse, proven: string])[] = [
  ["deepgram", "default", "files", "training none deletable 30-days"],
  ["deepgram", "default", "live", "training none deletable 30-days"],
  ["deepgram", "eu", "files", "training none deletable 30-days eu"],
  ["deepgram", "in", "live", "training none deletable 30-days in"],
  ["deepgram", "au", "files", "training none deletable 30-days"],
  ["assemblyai", "default", "files", "deletable 30-days"],
  ["assemblyai", "default", "live", ""],
  ["assemblyai", "eu", "files", "training deletable 30-days eu"],
  ["assemblyai", "eu", "live", ""],
  ["elevenlabs", "default", "files", "deletable"],
  ["elevenlabs", "eu", "files", "deletable eu"],
  ["elevenlabs", "in", "files", "deletable in"],
  ["elevenlabs", "us", "files", "deletable"],
  ["openai", "default", "files", "training"],
  ["openai", "default", "chat", "training 30-days"],
  ["openai", "eu", "files", "training"],
  ["openai", "eu", "chat", "training 30-days eu"],
  ["openai", "us", "chat", "training 30-days us"],
  ["openai", "ae", "chat", "training 30-days"],
  ["openai", "in", "chat", "training 30-days"],
  ["google-speech", "default", "files", "us"],
  ["google-speech", "us", "files", "us"],
  ["gemini", "default", "files", ""],
  ["gemini", "default", "chat", ""],
  ["anthropic", "default", "chat", ""],
  ["openai-compatible", "http://127.0.0.1:8000/v1", "files", ""],
  ["openai-compatible", "https://api.mistral.ai/v1", "files", ""],
  ["openai-compatible", "https://api.openai.com/v1", "chat", ""],
  ["sandbox", "default", "files", "training none deletable 30-days eu us in"],
  ["sandbox", "default", "chat", "training none deletable 30-days eu us in"],
  ["sandbox", "http://10.0.0.1:9000", "files", ""],
];

for (const [kind, at, use, proven] of PROVEN) {
  test(`data-policy.facts: ${kind} at ${at} for ${use} proves ${proven === "" ? "nothing" : proven}`, () => {
    const names = proven.split(" ").flatMap((name) => (name === "" ? [] : [name.replace("-", " ")]));
    assert.deepEqual(metBy({ kind, at, use }), names);
  });
}

test("data-policy.facts: openai processes in a region only with the models that its page names", () => {
  const eu = { kind: "openai", at: "eu", use: "chat" } as const;
  for (const model of ["gpt-5.5", "gpt-5.5-2026-04-23", "gpt-4o-2024-08-06"])
    assert.ok(metBy({ ...eu, model }).includes("eu"), model);
  for (const model of ["gpt-6.1-terra", "gpt-5.5-2027-01-01", "gpt-4o-2024-05-13", "ft:gpt-4o-2024-08-06:acme", ""])
    assert.deepEqual(metBy({ ...eu, model }), ["training", "30 days"], model);
  const stated = { ...eu, model: "gpt-6.1-terra", statement: { regions: ["eu"] } };
  assert.ok(metBy(stated).includes("eu"));
});

test("data-policy.facts: google-speech in the EU needs its location, and a bucket may be anywhere", () => {
  const eu = { kind: "google-speech", at: "eu", use: "files" } as const;
  assert.deepEqual(metBy({ ...eu, settings: { location: "eu" } }), ["eu"]);
  assert.deepEqual(metBy({ ...eu, settings: {} }), []);
  assert.deepEqual(metBy({ ...eu, settings: { location: "us" } }), []);
  assert.deepEqual(metBy({ ...eu, settings: { location: "eu", bucket: "b" } }), []);
});

test("data-policy.facts: without any one of its facts an account no longer proves what that fact alone proves, for each provider", () => {
  for (const kind of PROVIDER_KINDS) {
    for (const at of ["default", ...regionsOf(kind)]) {
      for (const use of ["files", "live", "chat"] as const) {
        const facts = factsOf({ kind, at, use });
        const settings = regionalHost(kind, at)?.settings ?? {};
        for (const requirement of Object.values(REQUIREMENTS)) {
          const required = requiredDataPolicy(requirement);
          const meets = (each: typeof facts) => judgeDataPolicy(required, each, settings).missing.length === 0;
          const proofs = facts.filter((fact) => meets([fact]));
          assert.equal(meets(facts), proofs.length > 0, `${kind} ${at} ${use}`);
          assert.equal(meets(facts.filter((fact) => !proofs.includes(fact))), false, `${kind} ${at} ${use}`);
        }
      }
    }
  }
});

test("data-policy.facts: no provider's facts hold at an address that is not its own", () => {
  for (const kind of PROVIDER_KINDS) {
    for (const at of ["https://proxy.example", "http://127.0.0.1:9", "https://api.deepgram.com.example/v1"]) {
      for (const use of ["files", "live", "chat"] as const) assert.deepEqual(factsOf({ kind, at, use }), [], kind);
    }
    const own = defaultUrl(kind);
    if (own?.startsWith("https://") === true)
      assert.equal(hostOf(kind, own.replace("https://", "http://"), own), null, kind);
  }
});

test("data-policy.facts: each fact has a source and the date of its evidence, or the day when an undated page was read", () => {
  for (const [kind, facts] of Object.entries(VENDOR_FACTS)) {
    for (const { source, verifiedOn, basis } of facts) {
      assert.match(source, /^(?:npm |[a-z.]+\.[a-z]+)/u, kind);
      if (verifiedOn !== null) assert.match(verifiedOn, /^\d{4}-\d\d-\d\d$/u);
      else assert.match(source, / \(undated, read \d{4}-\d\d-\d\d\)$/u);
      assert.equal(basis, "vendor");
    }
  }
});

test("data-policy.regional-hosts: a regional address is https, and is recognised as its region", () => {
  for (const kind of PROVIDER_KINDS) {
    for (const region of regionsOf(kind)) {
      const host = regionalHost(kind, region);
      assert.ok(host !== undefined && host.baseUrl.startsWith("https://"), `${kind} ${region}`);
      assert.equal(hostOf(kind, host.baseUrl, defaultUrl(kind)), region);
    }
    assert.equal(regionalHost(kind, "constructor"), undefined);
  }
});

test("data-policy.statement: what the owner of an account states counts for every kind and address, and nothing beyond it", () => {
  const statement: DataPolicyStatement = { training: "never", retention: "none", regions: ["eu"] };
  for (const kind of PROVIDER_KINDS) {
    for (const use of ["files", "live", "chat"] as const) {
      const at = "https://proxy.example";
      assert.deepEqual(
        metBy({ kind, at, use, statement }),
        ["training", "none", "deletable", "30 days", "eu"],
        `${kind} ${use}`,
      );
      assert.deepEqual(metBy({ kind, at, use, statement: { training: "never" } }), ["training"]);
      assert.deepEqual(metBy({ kind, at, use, statement: { retention: 30 } }), ["30 days"]);
      assert.deepEqual(metBy({ kind, at, use, statement: { regions: ["eu", "us"] } }), []);
    }
  }
});

/** Settings by which an operator asks for the opposite of the opt-out. */
const AGAINST: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  deepgram: { mip_opt_out: false },
  elevenlabs: { zero_retention: false },
  openai: { store: true },
};

function sentBySpeech(kind: ProviderKind, model: string, settings: Readonly<Record<string, unknown>>, stream: boolean) {
  const provider = providers.get(kind);
  const speech: SpeechModel | undefined = provider?.models[model];
  assert.ok(provider !== undefined && speech !== undefined);
  const planned = provider.plan(requestFor(speech, { stream }), { model, speech, settings });
  assert.ok(planned.ok);
  return planned.plan;
}

for (const stream of [false, true]) {
  test(`data-policy.opt-out-forced: Deepgram is sent mip_opt_out=true ${stream ? "on a socket, for files and live audio" : "with a file, for requests and jobs"}, for each model and requirement`, () => {
    for (const model of Object.keys(providers.get("deepgram")?.models ?? {})) {
      for (const requirement of [{ training: "never" }, { retention: "none" }, { regions: ["eu"] }] as const) {
        const account = { kind: "deepgram", at: "eu", use: "files", settings: AGAINST["deepgram"] ?? {} } as const;
        const { missing, settings } = judged(account, requirement as DataPolicyRequirement);
        assert.deepEqual(missing, []);
        const plan = sentBySpeech("deepgram", model, settings, stream);
        assert.ok(plan.kind === "raw");
        assert.deepEqual(
          plan.query.filter(([name]) => name === "mip_opt_out"),
          [["mip_opt_out", "true"]],
          model,
        );
      }
    }
    // Without a requirement the setting decides.
    const plan = sentBySpeech("deepgram", "nova-3", AGAINST["deepgram"] ?? {}, stream);
    assert.ok(plan.kind === "raw" && !plan.query.some(([name]) => name === "mip_opt_out"));
  });
}

test("data-policy.opt-out-forced: ElevenLabs is sent enable_logging=false where zero retention is stated and required, and only then", () => {
  const settings = AGAINST["elevenlabs"] ?? {};
  const stated = {
    kind: "elevenlabs",
    at: "default",
    use: "files",
    settings,
    statement: { retention: "none" },
  } as const;
  for (const [model, { streamsOnly = false }] of Object.entries(providers.get("elevenlabs")?.models ?? {})) {
    const isSentWith = (requirement: DataPolicyRequirement): boolean => {
      const plan = sentBySpeech("elevenlabs", model, judged(stated, requirement).settings, streamsOnly);
      if (plan.kind === "multipart") return plan.path === "/v1/speech-to-text?enable_logging=false";
      assert.ok(plan.kind === "raw");
      return plan.query.some(([name, value]) => name === "enable_logging" && value === "false");
    };
    assert.equal(isSentWith({ retention: "none" }), true, model);
    assert.equal(isSentWith({ training: "never" }), false, model);
  }
});

for (const stream of [false, true]) {
  test(`data-policy.opt-out-forced: OpenAI's chat is sent store: false ${stream ? "in a stream" : "in a request"} where retention is required`, () => {
    const chat = chatProviders.get("openai");
    assert.ok(chat !== undefined);
    const account = { kind: "openai", at: "default", use: "chat", settings: AGAINST["openai"] ?? {} } as const;
    for (const [model, known] of Object.entries(chat.models)) {
      const bodyWith = (settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
        const planned: ChatPlanResult = chat.plan(chatRequest(stream), { model, chat: known, settings });
        assert.ok(planned.ok);
        return planned.plan.body;
      };
      assert.equal(bodyWith(judged(account, { retention: 30 }).settings)["store"], false, model);
      assert.equal(bodyWith(account.settings)["store"], true, model);
      assert.equal("store" in bodyWith({}), false, model);
    }
  });
}

test("data-policy.opt-out-forced: every setting that a fact forces is a setting of its adapter", () => {
  for (const kind of PROVIDER_KINDS) {
    for (const use of ["files", "chat"] as const) {
      const schema = use === "chat" ? chatProviders.get(kind)?.settings : providers.get(kind)?.settings;
      if (schema === undefined) continue;
      const statement: DataPolicyStatement = { training: "never", retention: "none", regions: ["eu"] };
      for (const at of ["default", ...regionsOf(kind)]) {
        // A kind for files and chat has settings for each: what one does not know, it ignores.
        for (const { forces = {} } of factsOf({ kind, at, use, statement }))
          if (Object.keys(forces).every((name) => name !== "store" || use === "chat"))
            assert.ok(schema.safeParse(forces).success, `${kind} ${use} ${JSON.stringify(forces)}`);
      }
    }
  }
});

function chatRequest(stream: boolean): ChatRequest {
  return {
    messages: [{ role: "user", parts: [{ kind: "text", text: "Hello" }] }],
    tools: [],
    toolChoice: null,
    parallelToolCalls: null,
    responseFormat: { kind: "text" },
    maxTokens: null,
    temperature: null,
    topP: null,
    seed: null,
    stop: [],
    reasoningEffort: null,
    verbosity: null,
    stream,
  };
}

test("data-policy.facts: facts of files do not count for a model that also streams, nor for one that only streams", () => {
  const adapters = { speech: providers, chat: chatProviders };
  const models = providers.get("assemblyai")?.models ?? {};
  const eu = { kind: "assemblyai", baseUrl: "https://api.eu.assemblyai.com" } as const;
  const factsOfModel = (speech: SpeechModel) =>
    targetDataPolicy(eu, { name: "nova-3", speech, chat: null }, adapters).audio_input ?? [];
  let streaming = 0;
  for (const [name, model] of Object.entries(models)) {
    const declared: SpeechModel = {
      ...model,
      features: { ...model.features, streaming: { support: "native", grade: "shown" } },
    };
    assert.deepEqual(factsOfModel(declared), [], name);
    if (model.streamsOnly === true) {
      streaming += 1;
      assert.deepEqual(factsOfModel(model), [], name);
    } else assert.ok(factsOfModel(model).length > 0, name);
  }
  assert.ok(streaming > 0);
});
