// What a page of ours loads: its modules and what else it names. A fixed list; a request chooses from it by name, and no part of its
// path reaches the file system.
import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";

export interface PageFiles {
  /** null: there is none of this name. */
  readonly find: (name: string) => Promise<PageFile> | null;
}

export interface PageFile {
  readonly bytes: Buffer;
  readonly contentType: string;
}

export interface ModulePlaces {
  /** Where the modules' folders lie: sources, whose types are taken off, or what was built from them. */
  readonly modules: string;
  readonly areBuilt: boolean;
}

export type MakeFile = () => Promise<PageFile>;

const JAVASCRIPT = "text/javascript; charset=utf-8";

export const extensionOf = ({ areBuilt }: ModulePlaces): ".js" | ".ts" => (areBuilt ? ".js" : ".ts");

/** `names` of modules as `src/` holds them, without an extension; `others` by the name that the page gives them. */
export function createPageFiles(
  places: ModulePlaces,
  names: readonly string[],
  others: Readonly<Record<string, MakeFile>>,
): PageFiles {
  const { modules, areBuilt } = places;
  const scriptIn = (path: string) => async (): Promise<PageFile> => {
    const text = await readFile(join(modules, path), "utf8");
    return { bytes: Buffer.from(areBuilt ? text : withoutTypes(text)), contentType: JAVASCRIPT };
  };
  const paths = names.map((name) => name + extensionOf(places));
  const makers = new Map([...Object.entries(others), ...paths.map((path) => [path, scriptIn(path)] as const)]);
  const made = new Map<string, Promise<PageFile>>();
  return {
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

export const styleFile = (text: () => string) => async (): Promise<PageFile> => ({
  bytes: Buffer.from(text()),
  contentType: "text/css; charset=utf-8",
});

/** Where types stood there is space, so that lines and columns stay what they are; of lines that were nothing else none is left. */
function withoutTypes(text: string): string {
  return stripTypeScriptTypes(text).replaceAll(/^[ \t]+$/gmu, "");
}
