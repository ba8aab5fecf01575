// Emulates `profanity_filter` for models that have none, by masking words from a list. A route must allow it (`accept_weak`). Pure.
import type { ProviderTranscript, ProviderWord } from "../../providers/provider.ts";
import { PROFANITIES } from "./profanity-words.ts";

const WORD = /[\p{L}\p{M}]+/gu;

/** Keeps the first letter, as other speech services do: `f***`. */
export function maskProfanity(text: string): string {
  return text.replace(WORD, (word) => {
    if (!PROFANITIES.has(word.normalize("NFC").toLowerCase())) return word;
    const [first = "", ...rest] = word.normalize("NFC");
    return first + "*".repeat(rest.length);
  });
}

export function maskTranscript(transcript: ProviderTranscript): ProviderTranscript {
  const maskPiece = <P extends ProviderWord>(piece: P): P => ({ ...piece, text: maskProfanity(piece.text) });
  return {
    ...transcript,
    text: maskProfanity(transcript.text),
    segments: transcript.segments.map(maskPiece),
    words: transcript.words.map(maskPiece),
  };
}
