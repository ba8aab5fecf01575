// What is the same payload under one idempotency key, and what is not.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import * as fc from "fast-check";
import { PROFILES, REDACTION_GROUPS } from "../../src/contract/features.ts";
import {
  RESPONSE_FORMATS,
  type TranscriptionFields,
  transcriptionFields,
  translationFields,
} from "../../src/contract/transcription/transcription-fields.ts";
import { type FingerprintInput, fingerprint, payloadFingerprint } from "../../src/gateway/idempotency/fingerprint.ts";

const terms = fc.uniqueArray(fc.stringMatching(/^[a-zé漢]{1,6}$/u), { minLength: 1, maxLength: 4 });
const fields: fc.Arbitrary<TranscriptionFields> = fc.record(
  {
    language: fc.constantFrom("en", "de", "pt-BR"),
    diarization: fc.boolean(),
    speaker_count_hint: fc.integer({ min: 1, max: 32 }),
    timestamps: fc.constantFrom("word", "segment", "both"),
    keyterms: terms,
    redaction: fc.oneof(fc.constant(false), fc.subarray([...REDACTION_GROUPS], { minLength: 1 })),
    multichannel: fc.boolean(),
    profanity_filter: fc.boolean(),
    prompt: fc.string({ minLength: 1, maxLength: 30 }),
    response_format: fc.constantFrom(...RESPONSE_FORMATS),
    response_profile: fc.constantFrom(...PROFILES),
  },
  { requiredKeys: [] },
);
const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const input: fc.Arbitrary<FingerprintInput> = fc.record({
  endpoint: fc.constant("POST /v1/transcription"),
  fields,
  requestedPurpose: fc.option(fc.stringMatching(/^[a-z]{1,10}$/)),
  requestedPolicy: fc.option(fc.constantFrom("fallback", "strict")),
  audio: fc.record({ kind: fc.constant("bytes" as const), sha256: hash, sizeBytes: fc.nat() }),
});

const print = (value: FingerprintInput) => fingerprint(value).toString("hex");

test("idempotency.fingerprint-stable: R2: fingerprints stay the same from release to release: these are of texts written by hand", () => {
  const of = (text: string) => createHash("sha256").update(text).digest("hex");
  const audio = { kind: "url", url: "https://a.example/b" } as const;
  const asked = { endpoint: "POST /v1/transcription", requestedPurpose: null, requestedPolicy: null, audio };
  const url = '{"kind":"url","url":"https://a.example/b"}';
  assert.equal(print({ ...asked, fields: {} }), of(`{"audio":${url},"endpoint":"POST /v1/transcription"}`));
  assert.equal(
    print({
      ...asked,
      fields: { redaction: true, keyterms: ["b", "a"], custom_vocabulary: ["b"], diarization: false },
    }),
    of(
      `{"audio":${url},"diarization":false,"endpoint":"POST /v1/transcription","keyterms":["b","a"],"redaction":["pii"]}`,
    ),
  );
  assert.equal(
    print({ ...asked, fields: { keyterms: [] }, requestedPurpose: "calls", requestedPolicy: "strict" }),
    of(`{"audio":${url},"endpoint":"POST /v1/transcription","purpose":"calls","purpose_policy":"strict"}`),
  );
});

test("idempotency.same-payload: the order of fields, the alias that carried the terms, and the place of the purpose change nothing", () => {
  fc.assert(
    fc.property(input, (value) => {
      const { keyterms, ...rest } = value.fields;
      const reordered = Object.fromEntries(Object.entries(rest).toReversed());
      const aliased = keyterms === undefined ? {} : { custom_vocabulary: keyterms.slice(0, 1), keyterms: keyterms };
      const same = transcriptionFields.parse({
        ...reordered,
        ...aliased,
        ...(value.requestedPurpose === null ? {} : { purpose: value.requestedPurpose }),
      });
      assert.equal(print({ ...value, fields: same }), print(value));
      if (value.fields.redaction === undefined) {
        assert.equal(
          print({ ...value, fields: { ...value.fields, redaction: true } }),
          print({ ...value, fields: { ...value.fields, redaction: ["pii"] } }),
        );
      }
    }),
    { numRuns: 5_000 },
  );
});

test("idempotency.normalised-fields: groups of redaction are one payload in any order and however often each was sent; false is not the same as not sent", () => {
  const groups = fc.array(fc.constantFrom(...REDACTION_GROUPS), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(input, groups, groups, (value, one, other) => {
      const of = (redaction: TranscriptionFields["redaction"]) =>
        print({ ...value, fields: { ...value.fields, redaction } });
      const isSame = new Set(one).symmetricDifference(new Set(other)).size === 0;
      assert.equal(of(one) === of(other), isSame);
      assert.equal(of(one), of([...new Set(one)].toReversed()));
      assert.equal(new Set([of(false), of(undefined), of(one)]).size, 3);
    }),
  );
});

test("transcription.language-tag, idempotency.normalised-fields: a language tag means the same in any case, is one payload, and goes to providers in its usual case", () => {
  const usual = {
    en: "EN",
    "pt-BR": "PT-br",
    "zh-Hant-TW": "zh-hANT-tw",
    "es-419": "ES-419",
    "de-1996": "DE-1996",
    "sl-rozaj": "SL-ROZAJ",
    // Extended languages, extensions and private use.
    yue: "zh-YUE",
    "yue-Hant-HK": "ZH-yue-hant-hk",
    "ar-Arab-EG": "ar-ARAB-eg-u-nu-latn",
    "de-DE": "de-DE-u-co-phonebk",
    "de-1901": "de-1901-t-en-a-bb-x-y-z",
    fr: "fr-x-foo",
  };
  for (const [tag, written] of Object.entries(usual)) {
    assert.deepEqual(transcriptionFields.parse({ language: written }), { language: tag });
    assert.deepEqual(translationFields.parse({ to_language: written }), { to_language: tag });
  }
});

test("transcription.language-tag: a malformed language tag is refused, and so is an extended language behind a language that has none", () => {
  const malformed = [
    "e",
    "english",
    "en-",
    "en-u",
    "en-x",
    "en-x-",
    "x-foo",
    "i-klingon",
    "eng-usa",
    "pt-bra",
    "zh-yue-cmn",
    "en_US",
  ];
  for (const language of [...malformed, "en-US-DE", "en-u-co-123456789", `en-${"x".repeat(33)}`])
    assert.equal(transcriptionFields.safeParse({ language }).success, false, language);
});

test("idempotency.other-payload, idempotency.defaults: any other audio, length, purpose, policy, endpoint or field is another payload; defaults are not filled in", () => {
  fc.assert(
    fc.property(input, fields, hash, (value, other, otherHash) => {
      const own = print(value);
      if (value.audio.kind !== "bytes") return;
      assert.notEqual(print({ ...value, audio: { ...value.audio, sizeBytes: value.audio.sizeBytes + 1 } }), own);
      if (otherHash !== value.audio.sha256)
        assert.notEqual(print({ ...value, audio: { ...value.audio, sha256: otherHash } }), own);
      assert.notEqual(print({ ...value, requestedPurpose: `${value.requestedPurpose ?? ""}x` }), own);
      assert.notEqual(
        print({ ...value, requestedPolicy: value.requestedPolicy === "strict" ? "fallback" : "strict" }),
        own,
      );
      assert.notEqual(print({ ...value, endpoint: "POST /v1/translation" }), own);
      for (const [name, changed] of Object.entries(other)) {
        const before: unknown = Object.entries(value.fields).find(([key]) => key === name)?.[1];
        if (JSON.stringify(before) === JSON.stringify(changed)) continue;
        assert.notEqual(print({ ...value, fields: { ...value.fields, [name]: changed } }), own, name);
      }
      if (value.fields.diarization === undefined) {
        assert.notEqual(
          print({ ...value, fields: { ...value.fields, diarization: false } }),
          own,
          "silence is not the default sent",
        );
      }
    }),
    { numRuns: 5_000 },
  );
});

test("idempotency.null-fields: a member sent as null, at any depth, counts as not sent; any other empty value counts", () => {
  const hashOf = (payload: Readonly<Record<string, unknown>>) => payloadFingerprint(payload).toString("hex");
  const plain = hashOf({ a: 1, inner: { b: "x" } });
  assert.equal(hashOf({ inner: { c: undefined, b: "x", d: null }, e: null, a: 1 }), plain);
  for (const other of [
    { a: 1, inner: { b: "x", c: "" } },
    { a: 1, inner: { b: "x", c: [] } },
    { a: 1 },
    { a: "1", inner: { b: "x" } },
  ])
    assert.notEqual(hashOf(other), plain, JSON.stringify(other));
});
