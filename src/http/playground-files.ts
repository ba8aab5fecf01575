// What the playground's page loads: its modules, its style, the bundled sample.
import { readFile } from "node:fs/promises";
import { createPageFiles, extensionOf, type ModulePlaces, type PageFiles, styleFile } from "./page-files.ts";
import { playgroundStyle } from "./playground-page.ts";

/** As `src/` holds them; a test holds this list against what they import. */
export const PLAYGROUND_MODULES = [
  "playground/main",
  "playground/api",
  "playground/audio",
  "playground/code",
  "page/ask",
  "page/download",
  "page/element",
  "page/error-view",
  "page/keep",
  "page/outcome-words",
  "playground/exports",
  "playground/key",
  "playground/options",
  "playground/options-form",
  "playground/player-keys",
  "playground/result-view",
  "playground/timeline",
  "page/trace-view",
  "playground/transcript-view",
  "captions/cues",
  "captions/plain-text",
  "captions/srt",
  "captions/timestamp",
  "captions/vtt",
  "lib/join-words",
  "lib/same-letters",
  "lib/steps",
  "lib/without-space",
] as const;

export interface PlaygroundFiles extends PageFiles {
  /** The page's first module, from /playground/. */
  readonly main: string;
}

export interface PlaygroundPlaces extends ModulePlaces {
  readonly sample: string;
}

export function createPlaygroundFiles({ sample, ...places }: PlaygroundPlaces): PlaygroundFiles {
  const files = createPageFiles(places, PLAYGROUND_MODULES, {
    "page/style.css": styleFile(playgroundStyle),
    "sample/dialogue.mp3": async () => ({ bytes: await readFile(sample), contentType: "audio/mpeg" }),
  });
  return { ...files, main: `playground/main${extensionOf(places)}` };
}
