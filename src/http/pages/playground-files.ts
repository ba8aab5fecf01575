// Lists the files that the playground's page loads: its modules, its style, the bundled sample.
import { readFile } from "node:fs/promises";
import { createPageFiles, extensionOf, type ModulePlaces, type PageFiles, styleFile } from "./page-files.ts";
import { playgroundStyle } from "./playground-page.ts";

/** The modules of `src/`. A test compares the list with their imports. */
export const PLAYGROUND_MODULES = [
  "playground/main",
  "playground/api",
  "playground/audio",
  "playground/code",
  "playground/code-view",
  "contract/lack-text",
  "page/ask",
  "page/download",
  "page/element",
  "page/error-view",
  "page/idempotency-key",
  "page/keep",
  "page/outcome-words",
  "page/target-name",
  "playground/exports",
  "playground/key",
  "playground/options",
  "playground/options-form",
  "playground/paid-once",
  "playground/player-keys",
  "playground/result-view",
  "playground/timeline",
  "page/trace-view",
  "playground/transcript-view",
  "playground/compare",
  "playground/aligned-view",
  "playground/compare-choice",
  "playground/compare-export",
  "playground/compare-plan",
  "playground/compare-side",
  "playground/compare-view",
  "playground/compare-words",
  "playground/comparison",
  "playground/spoken-words",
  "captions/columns",
  "captions/cues",
  "captions/line-breaks",
  "captions/line-pieces",
  "captions/plain-text",
  "captions/srt",
  "captions/timestamp",
  "captions/vtt",
  "lib/text/common-subsequence",
  "lib/text/join-words",
  "lib/text/edit-distance",
  "lib/text/has-same-letters",
  "lib/text/strip-to-letters",
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
