// Names the output of each recording below `--out-dir`: by the recording's name and the format, and never the same for two of them [cli.batch-names].
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ResponseFormat } from "../../../contract/transcription/transcription-fields.ts";
import { type Recording, withoutEnding } from "./find-recordings.ts";

const ENDINGS: Readonly<Record<ResponseFormat, string>> = {
  text: ".txt",
  json: ".json",
  verbose_json: ".json",
  diarized_json: ".json",
  srt: ".srt",
  vtt: ".vtt",
};

/**
 * `call.txt`; where that is the name of two, `call.mp3.txt`; then `monday/call.txt`, `monday/call.mp3.txt`, and with a digest of the path. Relative to the
 * directory, in the order of the recordings, and the same in every run with the same recordings.
 */
export function outputPaths(recordings: readonly Recording[], format: ResponseFormat = "text"): readonly string[] {
  const candidates = recordings.map(candidatesFor);
  const levels = recordings.map(() => 0);
  for (;;) {
    const names = candidates.map((each, index) => each[levels[index] ?? 0] ?? "");
    const counts = new Map<string, number>();
    for (const name of names) counts.set(fold(name), (counts.get(fold(name)) ?? 0) + 1);
    let isSettled = true;
    for (const [index, name] of names.entries()) {
      const level = levels[index] ?? 0;
      if ((counts.get(fold(name)) ?? 0) < 2 || level === LAST) continue;
      levels[index] = level + 1;
      isSettled = false;
    }
    if (isSettled) return names.map((name) => `${name}${ENDINGS[format]}`);
  }
}

const LAST = 4;

function candidatesFor({ source, place, parent }: Recording): readonly string[] {
  const stem = withoutEnding(place);
  const digest = createHash("sha256").update(source).digest("hex").slice(0, 12);
  return [stem, place, join(parent, stem), join(parent, place), `${place}-${digest}`];
}

/** Some file systems distinguish neither capitals nor the ways in which Unicode writes a letter. */
function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
