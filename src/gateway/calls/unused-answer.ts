// What is recorded of an audio call that was not used: the provider's own reason, and the receipts of a withheld answer.
import type { ProviderError } from "../../providers/io.ts";
import type { SpeechRequest } from "../../providers/provider.ts";
import { recordableFailure, speechTexts } from "../../providers/wire/recordable-failure.ts";
import type { UnusedAnswer } from "../billing/call-accounting.ts";

export function unusedAnswer({ provider, receipts }: ProviderError, request: SpeechRequest): UnusedAnswer {
  // An event in a stream follows text that is not kept here, so that its message cannot be compared with it.
  const isAfterText = request.stream && provider !== null && provider.status < 300;
  const safe = isAfterText ? { ...provider, message: null } : provider;
  return { failure: recordableFailure(safe, () => speechTexts(request)), receipts };
}
