// Limits the key terms of a request by `max_keyterms`, counting both fields as one list [transcription.keyterms-merged]. A purpose's default terms belong to the
// operator and are not counted.
import { GatewayError } from "../../contract/errors.ts";
import type { TranslationFields } from "../../contract/transcription/transcription-fields.ts";
import { mergedKeyterms } from "../../routing/required-features.ts";
import type { GatewayServices } from "../services.ts";

export function refuseTooManyKeyterms(
  { limits }: { readonly limits: Pick<GatewayServices["limits"], "maxKeyterms"> },
  fields: TranslationFields,
  prefix = "",
): void {
  const param = `${prefix}keyterms`;
  const count = mergedKeyterms(fields).length;
  if (count <= limits.maxKeyterms) return;
  const message = `keyterms and custom_vocabulary contain ${count} different terms in total; the maximum is ${limits.maxKeyterms}.`;
  throw new GatewayError("INVALID_REQUEST", {
    message,
    param,
    details: { max_keyterms: limits.maxKeyterms, received: count, issues: [{ param, message }] },
  });
}
