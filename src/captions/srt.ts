// SubRip: 1-based numbers, comma decimals, speakers as `S1: …` [captions.clock].
import { type Cue, speakerLabel } from "./cues.ts";
import { captionTimestamp } from "./timestamp.ts";

export function toSrt(cues: readonly Cue[]): string {
  return cues
    .map((cue, index) => {
      const times = `${captionTimestamp(cue.start, ",")} --> ${captionTimestamp(cue.end, ",")}`;
      const text = cue.lines.map(withoutArrow).join("\n");
      return `${index + 1}\n${times}\n${cue.speaker === null ? "" : speakerLabel(cue.speaker)}${text}\n`;
    })
    .join("\n");
}

/** An arrow inside text reads as a timing line to many players. */
function withoutArrow(text: string): string {
  return text.replaceAll("-->", "→");
}
