// Serves the files that a page loads: its modules and other named files. The list is fixed: requests choose from it by name, and no part of their
// path reaches the file system.
import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";

export interface PageFiles {
  /** Null: there is no file with this name. */
  readonly find: (name: string) => Promise<PageFile> | null;
}

export interface PageFile {
  readonly bytes: Buffer;
  readonly contentType: string;
}

export interface ModulePlaces {
  /** The folder of the modules: TypeScript sources, with their types stripped, or their build output. */
  readonly modules: string;
  readonly areBuilt: boolean;
}

export type MakeFile = () => Promise<PageFile>;

const JAVASCRIPT = "text/javascript; charset=utf-8";

export const extensionOf = ({ areBuilt }: ModulePlaces): ".js" | ".ts" => (areBuilt ? ".js" : ".ts");

/** `names` are the modules of `src/` without extension. `others` are files by the name that the page uses. */
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
  const cache = new Map<string, Promise<PageFile>>();
  return {
    find: (name) => {
      const make = makers.get(name);
      if (make === undefined) return null;
      const file = cache.get(name) ?? make();
      cache.set(name, file);
      file.catch(() => cache.delete(name));
      return file;
    },
  };
}

export const styleFile = (text: () => string) => async (): Promise<PageFile> => ({
  bytes: Buffer.from(text()),
  contentType: "text/css; charset=utf-8",
});

/** Types are replaced by spaces, so that lines and columns are unchanged. Lines that become blank are emptied. */
function withoutTypes(text: string): string {
  return stripTypeScriptTypes(text).replaceAll(/^[ \t]+$/gmu, "");
}
