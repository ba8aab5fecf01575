// Applies the defaults of a purpose (diarization, for example) to the fields that the request does not send [routing.purpose-defaults]. Pure.
import type { TranslationFields } from "../contract/transcription/transcription-fields.ts";

export function withDefaults(
  fields: TranslationFields,
  defaults: Readonly<Record<string, unknown>>,
): TranslationFields {
  const { keyterms: _, custom_vocabulary: __, ...others } = defaults;
  // Both names mean one list: a request that sends either of them replaces the default list.
  const sendsKeyterms = fields.keyterms !== undefined || fields.custom_vocabulary !== undefined;
  return { ...(sendsKeyterms ? others : defaults), ...fields };
}
