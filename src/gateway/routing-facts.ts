// Returns the purpose and the warnings of a request as response headers, for bare bodies [captions.facts-in-headers] and for OpenAI's bodies, which have no
// field for them [compatible.routing-headers].
import type { PurposeFields, Warning } from "../contract/transcription/transcription-envelope.ts";

type Facts = PurposeFields & { readonly warnings: readonly Warning[] };

/** Null values have no header. */
export function routingFacts(answer: Facts): Record<string, string> {
  const warnings = [...new Set(answer.warnings.map((warning) => warning.code))].join(", ");
  return {
    // Encoded, because a header cannot carry labels outside ASCII.
    ...(answer.svc_requested_purpose === null
      ? {}
      : { "x-svc-requested-purpose": encodeURI(answer.svc_requested_purpose) }),
    ...(answer.svc_applied_purpose === null ? {} : { "x-svc-applied-purpose": answer.svc_applied_purpose }),
    "x-svc-purpose-source": answer.svc_purpose_source,
    ...(warnings === "" ? {} : { "x-svc-warnings": warnings }),
  };
}
