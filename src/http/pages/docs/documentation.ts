// The pages of the documentation that the gateway serves: the Markdown files of `docs/`, read and rendered on their first request.
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { relative } from "node:path/posix";
import { setImmediate } from "node:timers/promises";
import { adminApiReference, apiReference } from "./api-reference.ts";
import type { RenderedPage } from "./markdown.ts";

export interface DocumentationPage {
  /** `/docs/reference/jobs`. */
  readonly path: string;
  /** `docs/reference/jobs.md`. For pages of an API reference: `openapi.json` or `openapi-admin.json`. */
  readonly file: string;
  readonly title: string;
  readonly markdown: string;
}

export interface SearchSection {
  /** Path with fragment. */
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly content: string;
}

export interface Documentation {
  readonly list: () => Promise<readonly DocumentationPage[]>;
  /** Null: there is no such page. */
  readonly render: (path: string) => Promise<RenderedPage | null>;
  /** Every section of every page. */
  readonly searchSections: () => Promise<readonly SearchSection[]>;
}

/** In the order of the navigation. Pages of generated lists are served, but not searched: they repeat what other pages explain. */
const GUIDES = "docs/guides";
const FOLDERS = ["docs", GUIDES, "docs/reference", "docs/decisions"] as const;
const NOT_SEARCHED = new Set(["docs/reference/coverage.md"]);
const INDEX = "docs/index.md";
const OPENAPI = "openapi.json";
const ADMIN_OPENAPI = "openapi-admin.json";
/** For those who edit the file, not for its readers. */
const GENERATED_NOTE = /^Generated from .*; do not edit\.\n\n/mu;

/** `root` is the directory that contains `docs/` and both OpenAPI documents. */
export function createDocumentation(root: string): Documentation {
  let listed: Promise<readonly DocumentationPage[]> | undefined;
  const rendered = new Map<string, RenderedPage>();
  const list: Documentation["list"] = () => {
    listed ??= readPages(root);
    listed.catch(() => {
      listed = undefined;
    });
    return listed;
  };
  const render: Documentation["render"] = async (path) => {
    const pages = await list();
    const page = pages.find((each) => each.path === path);
    if (page === undefined) return null;
    const pathOf = (file: string): string | null => pages.find((each) => each.file === file)?.path ?? null;
    const known = rendered.get(path);
    if (known !== undefined) return known;
    // Loaded by the first page.
    const { renderMarkdown } = await import("./markdown.ts");
    const result = renderMarkdown(page.markdown, { file: page.file, pathOf });
    rendered.set(path, result);
    return result;
  };
  return {
    list,
    render,
    searchSections: async () => {
      const all: SearchSection[] = [];
      const operations = new Set<string>();
      for (const { path, file } of await list()) {
        if (NOT_SEARCHED.has(file)) continue;
        const page = await render(path);
        for (const { id, text, content } of page?.sections ?? []) {
          // Most operations exist for a workspace and for the operator, in the same words. The first is found, and its page says who may call it.
          if (file === ADMIN_OPENAPI && operations.has(text)) continue;
          if (file === OPENAPI) operations.add(text);
          all.push({ id: `${path}#${id}`, page: page?.title ?? "", heading: text, content });
        }
        // A page takes milliseconds. Requests of other clients run in between.
        await setImmediate();
      }
      return all;
    },
  };
}

async function readPages(root: string): Promise<readonly DocumentationPage[]> {
  const read = async (file: string): Promise<DocumentationPage> => {
    const markdown = (await readFile(join(root, file), "utf8")).replace(GENERATED_NOTE, "");
    return { file, path: pathOfFile(file), title: /^# (.+)$/mu.exec(markdown)?.[1] ?? file, markdown };
  };
  const index = await readFile(join(root, INDEX), "utf8").catch(() => "");
  const written = await Promise.all(FOLDERS.map((folder) => listFiles(root, folder, index)));
  const document = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(root, file), "utf8"));
  return [
    ...(await Promise.all(written.flat().map(read))),
    ...apiReference(await document(OPENAPI)).map((page) => ({ ...page, file: OPENAPI })),
    ...adminApiReference(await document(ADMIN_OPENAPI)).map((page) => ({ ...page, file: ADMIN_OPENAPI })),
  ];
}

/** Guides are in the order of their links in the index, so that the first steps come first. All other pages are by name. */
async function listFiles(root: string, folder: string, index: string): Promise<readonly string[]> {
  const names = await readdir(join(root, folder)).catch(() => []);
  const files = names
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => `${folder}/${name}`);
  return folder === GUIDES ? files.toSorted((left, right) => linkPlace(left, index) - linkPlace(right, index)) : files;
}

function linkPlace(file: string, index: string): number {
  const place = index.indexOf(`(${relative(dirname(INDEX), file)}`);
  return place === -1 ? index.length : place;
}

function pathOfFile(file: string): string {
  return file === INDEX ? "/docs" : `/${file.replace(/(?:\/README)?\.md$/u, "")}`;
}
