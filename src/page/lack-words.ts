// Explains why a target cannot take a request: the feature that it lacks, or the limit that the request exceeds.

/** Reasons other than a missing feature. */
const WORDS: Readonly<Record<string, string>> = {
  audio_input: "takes no audio",
  chat: "does not chat",
  profile: "is kept for other profiles",
  size: "takes no file as large",
  duration: "takes no recording as long",
  format: "does not take this format",
  channels: "does not take as many channels",
  language: "does not know this language",
  to_language: "does not translate into this language",
  keyterms_limit: "does not take these key terms",
  live_audio: "takes files alone",
  batch: "only streams",
  decoder: "takes pieces alone, and this gateway cannot decode the recording",
  max_tokens: "does not write as many tokens",
};

export function whyNot(missing: readonly string[]): string {
  const features = missing.filter((lack) => WORDS[lack] === undefined);
  const reasons = missing.flatMap((lack) => WORDS[lack] ?? []);
  return [...(features.length === 0 ? [] : [`lacks ${features.join(", ")}`]), ...reasons].join("; ");
}
