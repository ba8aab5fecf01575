// Renders a transcript as the text of an SRT or WebVTT file. Pure.
import { buildCues } from "../../captions/cues.ts";
import { toSrt } from "../../captions/srt.ts";
import { toVtt } from "../../captions/vtt.ts";
import type { Segment, Word } from "../../contract/transcription/transcription-envelope.ts";

export interface CaptionSource {
  readonly format: "srt" | "vtt";
  readonly segments: readonly Segment[];
  readonly words: readonly Word[];
  readonly durationSeconds: number;
}

/** Blocks for 70 ms per 60,000 words: long transcripts are captioned by `TranscriptThread`. */
export function captionText({ format, segments, words, durationSeconds }: CaptionSource): string {
  const cues = buildCues(segments, words, durationSeconds);
  return format === "srt" ? toSrt(cues) : toVtt(cues);
}
