// Explains to people why a target cannot take a request: the feature that it lacks, or the limit that the request exceeds.

import type { Feature, Lack } from "./features.ts";

type Reason = Exclude<Lack, Feature> | "audio_input" | "chat" | "profile" | "model_retired" | "max_tokens";

/** Reasons other than a missing feature. */
const REASONS: Readonly<Record<Reason, string>> = {
  audio_input: "does not accept audio",
  chat: "does not support chat",
  profile: "reserved for other profiles",
  size: "file too large",
  duration: "recording too long",
  format: "format not supported",
  channels: "too many channels",
  language: "language not supported",
  to_language: "target language not supported",
  keyterms_limit: "key terms not supported",
  live_audio: "accepts files only",
  batch: "accepts streams only",
  decoder: "this gateway cannot decode the recording without ffmpeg",
  recording: "accepts certain recordings only",
  response_format: "response format not supported",
  model_not_installed: "model not installed",
  engine_not_installed: "speech engine not installed",
  not_offered: "not offered by this gateway",
  model_retired: "ended by its provider",
  max_tokens: "too many tokens requested",
};

/** `retired`: of a target whose model its provider has ended. */
export function whyNot(missing: readonly string[], retired?: { readonly ended_on: string }): string {
  const words = new Map<string, string>(Object.entries(REASONS));
  const features = missing.filter((lack) => !words.has(lack));
  const reasons = missing.flatMap((lack) => words.get(lack) ?? []);
  return (
    [...(features.length === 0 ? [] : [`lacks ${features.join(", ")}`]), ...reasons].join("; ") +
    (retired === undefined ? "" : ` on ${retired.ended_on}`)
  );
}
