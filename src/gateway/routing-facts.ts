// What happened to the purpose and to preferences, as headers: of a bare body [captions.facts-in-headers], and of OpenAI's bodies, which
// have no place for it [compatible.routing-headers].
import type { PurposeFields, Warning } from "../contract/transcription.ts";

type Facts = PurposeFields & { readonly warnings: readonly Warning[] };

/** Absent when null. */
export function routingFacts(answer: Facts): Record<string, string> {
  const warnings = [...new Set(answer.warnings.map((warning) => warning.code))].join(", ");
  return {
    // Labels outside ASCII cannot stand in a header as they are.
    ...(answer.svc_requested_purpose === null
      ? {}
      : { "x-svc-requested-purpose": encodeURI(answer.svc_requested_purpose) }),
    ...(answer.svc_applied_purpose === null ? {} : { "x-svc-applied-purpose": answer.svc_applied_purpose }),
    "x-svc-purpose-source": answer.svc_purpose_source,
    ...(warnings === "" ? {} : { "x-svc-warnings": warnings }),
  };
}
