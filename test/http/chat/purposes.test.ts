// Purposes, profiles and preferences of chat as tables: each row over HTTP, the route seen at the far end.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chatOf, postChat } from "../../harness/chat-client.ts";
import { detailsOf, get } from "../../harness/client.ts";
import { answer } from "../../harness/chat-upstream.ts";
import { target } from "../../harness/configuration.ts";
import { type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

let gateway: ChatGateway;
const LOCKED_KEY = "key-whose-route-has-no-profile";
const OVERRIDE_KEY = "key-with-an-audio-override-001";
const THINKING_KEY = "key-whose-route-has-a-gpt-5-01";
const DEFAULTED_KEY = "key-of-an-app-with-a-default-1";

before(async () => {
  gateway = await startChatGateway({
    route: {
      purposes: {
        brief: "second",
        off: { route: "second", is_enabled: false },
        draft: { route: "second", is_published: false },
        spoken: "speech",
      },
    },
    app: {
      // A strict policy is about audio; chat falls back all the same.
      audio_purpose_policy: "strict",
      keys: {
        "locked-key": { secret: LOCKED_KEY, route: "locked" },
        "thinking-key": { secret: THINKING_KEY, route: "thinking" },
        "override-key": { secret: OVERRIDE_KEY, audio_input_override: "speech" },
      },
    },
    with: ({ connections: { first } }) => ({
      connections: { oa: { kind: "openai", base_url: first.base_url } },
      routes: {
        second: "second/two",
        locked: { profile_override_allowed: false, targets: "first/one" },
        speech: "dg/nova-3",
        thinking: "oa/gpt-5",
        efforts: [
          target("first/one", { profiles: ["fast"], settings: { fast: { reasoning_effort: "low" } } }),
          target("second/two", { profiles: ["deep"] }),
        ],
      },
      apps: {
        defaulted: { route: "chat", default_purpose: "brief", key: DEFAULTED_KEY },
        efforts: { key: "key-of-the-app-with-efforts-01" },
      },
    }),
  });
});
after(() => gateway.close());
beforeEach(async () => {
  await forget(gateway);
  gateway.first.behave(answer);
  gateway.second.behave(answer);
});

const REASONS = { misspelled: "unknown", off: "disabled", draft: "unpublished", spoken: "no_chat_model" } as const;

for (const key of [undefined, OVERRIDE_KEY]) {
  const where = key === undefined ? "" : ", next to an audio override";
  for (const carrier of ["body", "header"] as const) {
    const send = (label: string) =>
      postChat(gateway.origin, carrier === "body" ? { purpose: label } : {}, {
        ...(key === undefined ? {} : { key }),
        headers: carrier === "header" ? { "x-svc-purpose": label } : {},
      });
    test(`routing.purpose-selects-route: a purpose in the ${carrier} selects its route${where}`, async () => {
      const chat = chatOf(await send("brief"));
      assert.deepEqual(
        [chat.svc_requested_purpose, chat.svc_applied_purpose, chat.svc_purpose_source],
        ["brief", "brief", carrier],
      );
      assert.deepEqual([gateway.first.calls.length, gateway.second.calls.length], [0, 1]);
    });
    for (const [label, reason] of Object.entries(REASONS)) {
      test(`routing.purpose-fallback, routing.purpose-chat: a purpose that is ${reason}, in the ${carrier}, falls back with a warning, whatever the policy${where}`, async () => {
        const chat = chatOf(await send(label));
        assert.deepEqual(
          [chat.svc_requested_purpose, chat.svc_applied_purpose, chat.svc_purpose_source],
          [label, null, "fallback"],
        );
        assert.deepEqual(
          chat.warnings.map((warning) => [warning.code, warning.details?.["reason"]]),
          [["PURPOSE_NOT_APPLIED", reason]],
        );
        assert.deepEqual([gateway.first.calls.length, gateway.second.calls.length], [1, 0]);
      });
    }
  }
}

test("routing.purpose-selects-route, routing.purpose-default: the body wins over the header, and an app's default applies where neither is sent", async () => {
  const both = chatOf(await postChat(gateway.origin, { purpose: "brief" }, { headers: { "x-svc-purpose": "off" } }));
  assert.equal(both.svc_applied_purpose, "brief");
  const silent = chatOf(await postChat(gateway.origin, {}, { key: DEFAULTED_KEY }));
  assert.deepEqual(
    [silent.svc_requested_purpose, silent.svc_applied_purpose, silent.svc_purpose_source],
    [null, "brief", "app_default"],
  );
});

const EFFORTS_KEY = "key-of-the-app-with-efforts-01";
for (const [profile, model, warnings] of [
  ["fast", "one", []],
  ["deep", "two", []],
  ["balanced", "one", ["PROFILE_NOT_APPLIED"]],
] as const) {
  test(`routing.profile-picks-targets: response_profile ${profile} picks among the targets of the route`, async () => {
    const chat = chatOf(await postChat(gateway.origin, { response_profile: profile }, { key: EFFORTS_KEY }));
    assert.deepEqual(
      chat.warnings.map((warning) => warning.code),
      warnings,
    );
    const calls = [...gateway.first.calls, ...gateway.second.calls];
    assert.deepEqual(
      calls.map((call) => [call.body["model"], call.body["reasoning_effort"]]),
      [[model, profile === "fast" ? "low" : undefined]],
    );
  });
}

test("routing.profile-forbidden: a route that allows no profile answers 400 to one", async () => {
  const reply = await postChat(gateway.origin, { response_profile: "fast" }, { key: LOCKED_KEY });
  assert.deepEqual([reply.status, reply.code], [400, "INVALID_REQUEST"]);
  assert.equal((detailsOf(reply)["issues"] as readonly unknown[]).length, 1);
  assert.equal(gateway.first.calls.length, 0);
});

for (const stream of [false, true]) {
  test(`compatible.routing-headers: headers report that a purpose was not applied, where the body has no place for it${stream ? ", of streams" : ""}`, async () => {
    const path = "/v1/chat/completions";
    const facts = async (model: string) => {
      const { status, headers } = await postChat(gateway.origin, { model, stream }, { path });
      const names = ["requested-purpose", "applied-purpose", "purpose-source", "warnings"];
      return [status, ...names.map((name) => headers.get(`x-svc-${name}`))];
    };
    assert.deepEqual(await facts("purpose/brief"), [200, "brief", "brief", "body", null]);
    assert.deepEqual(await facts("purpose/nope"), [200, "nope", null, "fallback", "PURPOSE_NOT_APPLIED"]);
  });
}

test("routing.purpose-label, compatible.model-selects-purpose, compatible.model-not-selectable: a label behind purpose/ is judged like one in the field: 200 visible characters are never a 400", async () => {
  for (const label of ["\u{1F399}", "\u{1F399}".repeat(200), "会議 two", "x".repeat(200)]) {
    const native = await postChat(gateway.origin, { purpose: label });
    const compatible = await postChat(gateway.origin, { model: `purpose/${label}` }, { path: "/v1/chat/completions" });
    assert.deepEqual([native.status, compatible.status], [200, 200], compatible.text);
    assert.equal(compatible.headers.get("x-svc-requested-purpose"), encodeURI(label));
  }
  for (const label of ["", "x".repeat(201), "\u200b", "a\u0007b"]) {
    const native = await postChat(gateway.origin, { purpose: label });
    const compatible = await postChat(gateway.origin, { model: `purpose/${label}` }, { path: "/v1/chat/completions" });
    assert.deepEqual([native.code, compatible.code], ["INVALID_REQUEST", "MODEL_NOT_SELECTABLE"], label);
  }
});

for (const [title, key, fields, [effort, verbosity], warnings] of [
  ["a model that takes them is sent them", THINKING_KEY, {}, ["high", "low"], null],
  ["a model that does not is asked without, and the headers say so", undefined, {}, [], "PREFERENCE_DROPPED"],
  [
    "an effort that this model lacks is dropped",
    THINKING_KEY,
    { reasoning_effort: "xhigh" },
    [undefined, "low"],
    "PREFERENCE_DROPPED",
  ],
] as const) {
  test(`compatible.effort: reasoning_effort and verbosity of OpenAI's clients: ${title}`, async () => {
    const path = "/v1/chat/completions";
    const asked = { model: "auto", reasoning_effort: "high", verbosity: "low", ...fields };
    const reply = await postChat(gateway.origin, asked, { path, ...(key === undefined ? {} : { key }) });
    assert.equal(reply.status, 200, reply.text);
    const calls = [...gateway.first.calls, ...gateway.second.calls];
    assert.deepEqual(
      calls.map(({ body }) => [body["reasoning_effort"], body["verbosity"]]),
      [[effort, verbosity]],
    );
    assert.equal(reply.headers.get("x-svc-warnings"), warnings);
  });
}

test("chat.effort-by-profile: POST /v1/chat has neither field: effort there is a matter of response_profile", async () => {
  const reply = await postChat(gateway.origin, { reasoning_effort: "high" }, { key: THINKING_KEY });
  assert.deepEqual([reply.status, reply.code], [400, "INVALID_REQUEST"]);
  assert.equal(gateway.first.calls.length, 0);
});

test("routing.no-model, errors.unavailable-retryable: a route without a chat model is 503 no_chat_model, not retryable", async () => {
  await gateway.database.db
    .updateTable("apps")
    .set({ settings: JSON.stringify({ route: "speech" }) })
    .where("slug", "=", "app")
    .execute();
  const reply = await postChat(gateway.origin, {}, { key: "test-key-of-another-workspace-01" });
  assert.deepEqual(
    [reply.status, reply.code, reply.headers.get("x-should-retry")],
    [503, "NO_HEALTHY_PROVIDER", "false"],
  );
  assert.deepEqual(detailsOf(reply), { reason: "no_chat_model" });
});

test("chat.preferences: preferences that a model does not accept are dropped with a warning each", async () => {
  const chat = chatOf(await postChat(gateway.origin, { temperature: 1, seed: 7, stop: ["a", "b"], top_p: 0.5 }));
  assert.deepEqual(chat.warnings, []);
  const { temperature, seed, stop, top_p } = gateway.first.calls[0]?.body ?? {};
  assert.deepEqual([temperature, seed, stop, top_p], [1, 7, ["a", "b"], 0.5]);
});

test("keys.me, routing.purposes-listed: GET /v1/me lists for a chat key its capabilities, what can be asked, and its purposes", async () => {
  const me = (await get(gateway.origin, "/v1/me")).json as {
    routing_contexts: readonly { capabilities: readonly string[]; features: Record<string, boolean> }[];
    purposes: readonly { purpose: string }[];
  };
  const [context] = me.routing_contexts;
  assert.deepEqual(context?.capabilities, ["chat"]);
  assert.equal(context?.features["tools"], true);
  assert.deepEqual(
    me.purposes.map(({ purpose }) => purpose).toSorted((a, b) => a.localeCompare(b)),
    ["brief", "off", "spoken"],
  );
});
