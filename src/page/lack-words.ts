// Explains why a target cannot take a request: the feature that it lacks, or the limit that the request exceeds.

/** Reasons other than a missing feature. */
const WORDS: Readonly<Record<string, string>> = {
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
  model_retired: "ended by its provider",
  max_tokens: "too many tokens requested",
};

/** `retired`: of a target whose model its provider has ended. */
export function whyNot(missing: readonly string[], retired?: { readonly ended_on: string }): string {
  const features = missing.filter((lack) => WORDS[lack] === undefined);
  const reasons = missing.flatMap((lack) => WORDS[lack] ?? []);
  return (
    [...(features.length === 0 ? [] : [`lacks ${features.join(", ")}`]), ...reasons].join("; ") +
    (retired === undefined ? "" : ` on ${retired.ended_on}`)
  );
}
