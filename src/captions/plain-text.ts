// Formats a transcript as plain text: one line per turn as `S1: …` if speakers are known, otherwise the text unchanged [captions.text-turns].
import { joinWords } from "../lib/text/join-words.ts";
import type { Segment } from "../contract/transcription/transcription-envelope.ts";

export function toPlainText(content: string, segments: readonly Segment[]): string {
  if (!segments.some((segment) => segment.speaker !== null)) return content;
  const turns: { speaker: string | null; texts: string[] }[] = [];
  for (const segment of segments) {
    const last = turns.at(-1);
    if (last !== undefined && last.speaker === segment.speaker) last.texts.push(segment.text.trim());
    else turns.push({ speaker: segment.speaker, texts: [segment.text.trim()] });
  }
  return turns.map((turn) => `${turn.speaker === null ? "" : `${turn.speaker}: `}${joinWords(turn.texts)}`).join("\n");
}
