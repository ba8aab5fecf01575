// Computes the hash (fingerprint) by which two requests under one idempotency key are recognised as the same payload [idempotency.same-payload]. Pure.
import { createHash } from "node:crypto";
import { REDACTION_GROUPS, type RedactionGroup } from "../../contract/features.ts";
import type { DataPolicyRequirement } from "../../contract/settings/data-policy.ts";
import type { TranslationFields } from "../../contract/transcription/transcription-fields.ts";
import { mergedKeyterms } from "../../routing/required-features.ts";

export interface FingerprintInput {
  readonly endpoint: string;
  readonly fields: TranslationFields;
  /** The endpoint's own fields, in addition to those of every transcription. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** The body takes precedence over the header. */
  readonly requestedPurpose: string | null;
  readonly requestedPolicy: string | null;
  readonly audio:
    | { readonly kind: "bytes"; readonly sha256: string; readonly sizeBytes: number }
    | { readonly kind: "url"; readonly url: string };
}

/**
 * SHA-256 over canonical JSON. Excludes hints (file name, declared type), the carrier (multipart or base64), the order of fields and the API key. Defaults are
 * not filled in, so that a later change of a default breaks no replay.
 */
export function fingerprint(input: FingerprintInput): Buffer {
  const {
    custom_vocabulary: _,
    keyterms: __,
    redaction,
    data_policy: dataPolicy,
    purpose: _body,
    purpose_policy: _policy,
    ...rest
  } = input.fields;
  const terms = mergedKeyterms(input.fields);
  return payloadFingerprint({
    ...rest,
    ...input.extra,
    endpoint: input.endpoint,
    purpose: input.requestedPurpose,
    purpose_policy: input.requestedPolicy,
    keyterms: terms.length > 0 ? terms : undefined,
    redaction: asSet(redaction),
    data_policy: normalizedDataPolicy(dataPolicy),
    audio: input.audio,
  });
}

/** Normalises the groups: each once, in the contract's order. `false` was sent explicitly and differs from absent. */
function asSet(redaction: TranslationFields["redaction"]): readonly RedactionGroup[] | false | undefined {
  if (redaction === undefined || redaction === false) return redaction;
  return redaction === true ? ["pii"] : REDACTION_GROUPS.filter((group) => redaction.includes(group));
}

/** Regions in any order and however often each was sent are the same payload, as groups of redaction are. */
export function normalizedDataPolicy(policy: DataPolicyRequirement | undefined): DataPolicyRequirement | undefined {
  return policy?.regions == null ? policy : { ...policy, regions: [...new Set(policy.regions)].toSorted() };
}

/** Hashes plain data independently of the order of its members. */
export function payloadFingerprint(payload: Readonly<Record<string, unknown>>): Buffer {
  return createHash("sha256").update(canonicalJson(payload)).digest();
}

/** Sorted keys, without `undefined` and `null` members (a `null` field counts as not sent), as RFC 8785 for our value types. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined && member !== null)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value);
}
