// Formats cues as WebVTT: header, decimal points, escaped text, speakers as voice spans [captions.escaping].
import type { Cue } from "./cues.ts";
import { captionTimestamp } from "./timestamp.ts";

export function toVtt(cues: readonly Cue[]): string {
  const blocks = cues.map((cue) => {
    const times = `${captionTimestamp(cue.start, ".")} --> ${captionTimestamp(cue.end, ".")}`;
    const text = cue.lines.map(escapeText).join("\n");
    return `${times}\n${cue.speaker === null ? "" : `<v ${cue.speaker}>`}${text}\n`;
  });
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** Escaping `>` also keeps `-->` out of cue text. */
function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
