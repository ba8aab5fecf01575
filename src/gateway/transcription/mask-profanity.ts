// `profanity_filter` where the model has none: the gateway masks words from a list, which a route has to allow (`accept_weak`). Pure.
import type { ProviderTranscript, ProviderWord } from "../../providers/provider.ts";
import { PROFANITIES } from "./profanity-words.ts";

const WORD = /[\p{L}\p{M}]+/gu;

/** Its first letter stays, as speech services write it: `f***`. */
export function maskProfanity(text: string): string {
  return text.replace(WORD, (word) => {
    if (!PROFANITIES.has(word.normalize("NFC").toLowerCase())) return word;
    const [first = "", ...rest] = word.normalize("NFC");
    return first + "*".repeat(rest.length);
  });
}

export function maskTranscript(transcript: ProviderTranscript): ProviderTranscript {
  const masked = <P extends ProviderWord>(piece: P): P => ({ ...piece, text: maskProfanity(piece.text) });
  return {
    ...transcript,
    text: maskProfanity(transcript.text),
    segments: transcript.segments.map(masked),
    words: transcript.words.map(masked),
  };
}
