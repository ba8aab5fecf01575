// The fields of "Try" are those that the API accepts, and the sentence about two answers names their difference [console.try].
// Of embedded storage alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceText } from "../../src/console/try-difference.ts";
import { filtersOf, requestOf } from "../../src/console/try-question.ts";
import { chatFields } from "../../src/contract/chat/checked-chat-fields.ts";
import { EXPLAINED_TASKS, explanationRequest, type JudgedRequest } from "../../src/contract/admin/route-explanation.ts";
import { transcriptionFields, translationFields } from "../../src/contract/transcription/transcription-fields.ts";

const TAKES = {
  transcribe: transcriptionFields,
  translate: translationFields,
  realtime: transcriptionFields.omit({ dry_run: true }),
  chat: chatFields,
} as const;
const TYPED: Readonly<Record<string, string>> = { language: "pt-BR", to_language: "de", purpose: "meetings" };

test("console.try: each question, alone and with all others, makes a request that the API accepts, and each has an effect", () => {
  for (const task of EXPLAINED_TASKS) {
    const filters = filtersOf(task);
    const valuesOf = (filter: (typeof filters)[number]): readonly string[] =>
      filter.kind === "select"
        ? filter.choices.map(([value]) => value).filter((value) => value !== "")
        : [filter.kind === "check" ? "yes" : (TYPED[filter.name] ?? "2")];
    const plain = JSON.stringify(requestOf(new URLSearchParams({ task, minutes: "1" })));
    const all = new URLSearchParams({ task, minutes: "40,5" });
    for (const filter of filters) {
      for (const value of valuesOf(filter)) {
        const query = new URLSearchParams({ task, minutes: "1", [filter.name]: value });
        assert.notEqual(JSON.stringify(requestOf(query)), plain, `${task}: ${filter.name}`);
        all.set(filter.name, value);
        for (const each of [query, all]) {
          const request = explanationRequest.parse({ app: "notes", ...requestOf(each) });
          const messages = [{ role: "user", content: "Hello" }];
          TAKES[task].parse(task === "chat" ? { messages, ...request.fields } : request.fields);
        }
      }
    }
  }
});

test("console.try: every field of a transcription that changes its routing can be asked", () => {
  const asked = new Set(filtersOf("transcribe").map(({ name }) => name));
  const missing = Object.keys(transcriptionFields.shape).filter((name) => !asked.has(name));
  // `mode` is asked as a job; `data_policy` has members of its own, which API and command line take; the others are preferences, the same wish by another
  // name, or of the answer alone.
  assert.deepEqual(missing, [
    "mode",
    "dry_run",
    "speaker_count_hint",
    "custom_vocabulary",
    "smart_formatting",
    "detect_language",
    "prompt",
    "response_format",
    "data_policy",
  ]);
});

test("console.try: a value that is no number is sent as it was typed, so that it is refused and not dropped", () => {
  const audio = requestOf(new URLSearchParams({ minutes: "long", channels: "two", megabytes: "1,5" }));
  assert.deepEqual(audio.recording, { duration_seconds: "long", channels: "two", bytes: 1_500_000, format: "mp3" });
  const chat = requestOf(new URLSearchParams({ task: "chat", max_tokens: "many" }));
  assert.deepEqual(chat.fields, { max_tokens: "many" });
});

const DRAFT = { route: "calls", version: 2, state: "draft" } as const;

/** Judged to go to the first of them, or refused. */
function judged(targets: readonly string[], refusal: string | null = null, code = "REFUSED"): JudgedRequest {
  const candidates = targets.map((name, index) => {
    const [connection = "", model = ""] = name.split("/");
    return { position: index + 1, connection, provider: "deepgram", model, missing: [], healthy: true };
  });
  const isRefused = refusal !== null || targets.length === 0;
  return {
    trace: { object: "route_trace", asked: null, purpose: null, route: "calls", route_version: 1, refusal, candidates },
    decision: {
      object: "routing.decision",
      outcome: isRefused ? { status: 422, code, position: null } : { status: 200, code: null, position: 1 },
      candidates: [],
      purpose: { svc_requested_purpose: null, svc_applied_purpose: null, svc_purpose_source: "none" },
      warnings: [],
      estimated_cost_usd: null,
      audio_seconds: null,
    },
  };
}

test("console.try: the difference that a draft makes for a request is one sentence", () => {
  const [a, b] = [judged(["dg/nova-3", "oa/whisper-1"]), judged(["oa/whisper-1"])];
  const unsupported = judged(["dg/nova-3"], "unsupported");
  for (const [live, draft, expected] of [
    [a, b, "The draft sends this to oa: whisper-1 instead of dg: nova-3."],
    [a, a, "No difference for this request."],
    [a, judged(["dg/nova-3"]), "Both send it to dg: nova-3; fallback targets or parameters differ."],
    [a, unsupported, "Only the draft rejects it: no target supports all features (REFUSED)."],
    [
      unsupported,
      b,
      "Only the live version rejects it: no target supports all features (REFUSED). The draft sends it to oa: whisper-1.",
    ],
    [unsupported, unsupported, "Both reject it: no target supports all features (REFUSED)."],
    [
      unsupported,
      judged([], null, "BUDGET_EXCEEDED"),
      "Both reject it: the live version because no target supports all features (REFUSED), the draft because its budget is exhausted (BUDGET_EXCEEDED).",
    ],
  ] as const)
    assert.equal(differenceText(live, draft, DRAFT), expected);
  assert.equal(
    differenceText(a, b, { ...DRAFT, state: "retired" }),
    "Version 2 sends this to oa: whisper-1 instead of dg: nova-3.",
  );
});
