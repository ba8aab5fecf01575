// What the playground's page loads: its modules, its style, the bundled sample. A fixed list; a request chooses from it by name, and no
// part of its path reaches the file system.
import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { playgroundStyle } from "./playground-page.ts";

/** As `src/` holds them; a test holds this list against what they import. */
export const PLAYGROUND_MODULES = [
  "playground/main",
  "playground/api",
  "playground/audio",
  "playground/code",
  "playground/element",
  "playground/error-view",
  "playground/exports",
  "playground/key",
  "playground/options",
  "playground/options-form",
  "playground/player-keys",
  "playground/result-view",
  "playground/timeline",
  "playground/trace-view",
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

export interface PlaygroundFiles {
  /** The page's first module, from /playground/. */
  readonly main: string;
  /** null: there is none of this name. */
  readonly find: (name: string) => Promise<PlaygroundFile> | null;
}

export interface PlaygroundFile {
  readonly bytes: Buffer;
  readonly contentType: string;
}

export interface PlaygroundPlaces {
  /** Where the modules' folders lie: sources, whose types are taken off, or what was built from them. */
  readonly modules: string;
  readonly areBuilt: boolean;
  readonly sample: string;
}

const JAVASCRIPT = "text/javascript; charset=utf-8";

export function createPlaygroundFiles({ modules, areBuilt, sample }: PlaygroundPlaces): PlaygroundFiles {
  const extension = areBuilt ? ".js" : ".ts";
  const scriptIn = (path: string) => async (): Promise<PlaygroundFile> => {
    const text = await readFile(join(modules, path), "utf8");
    return { bytes: Buffer.from(areBuilt ? text : withoutTypes(text)), contentType: JAVASCRIPT };
  };
  const makers = new Map<string, () => Promise<PlaygroundFile>>([
    ["page/style.css", async () => ({ bytes: Buffer.from(playgroundStyle()), contentType: "text/css; charset=utf-8" })],
    ["sample/dialogue.mp3", async () => ({ bytes: await readFile(sample), contentType: "audio/mpeg" })],
    ...PLAYGROUND_MODULES.map((name) => [name + extension, scriptIn(name + extension)] as const),
  ]);
  const made = new Map<string, Promise<PlaygroundFile>>();
  return {
    main: `playground/main${extension}`,
    find: (name) => {
      const make = makers.get(name);
      if (make === undefined) return null;
      const file = made.get(name) ?? make();
      made.set(name, file);
      file.catch(() => made.delete(name));
      return file;
    },
  };
}

/** Where types stood there is space, so that lines and columns stay what they are; of lines that were nothing else none is left. */
function withoutTypes(text: string): string {
  return stripTypeScriptTypes(text).replaceAll(/^[ \t]+$/gmu, "");
}
