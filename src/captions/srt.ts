// Formats cues as SubRip (SRT): numbers from 1, decimal commas, speakers as `S1: …` [captions.clock].
import { type Cue, speakerLabel } from "./cues.ts";
import { captionTimestamp } from "./timestamp.ts";

export function toSrt(cues: readonly Cue[]): string {
  return cues
    .map((cue, index) => {
      const times = `${captionTimestamp(cue.start, ",")} --> ${captionTimestamp(cue.end, ",")}`;
      const text = cue.lines.map(replaceArrow).join("\n");
      return `${index + 1}\n${times}\n${cue.speaker === null ? "" : speakerLabel(cue.speaker)}${text}\n`;
    })
    .join("\n");
}

/** Many players read an arrow inside text as a timing line. */
function replaceArrow(text: string): string {
  return text.replaceAll("-->", "→");
}
