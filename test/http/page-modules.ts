// What a page of ours loads, as a browser would ask for it.
import assert from "node:assert/strict";
import { posix } from "node:path";
import { get, send } from "../harness/client.ts";

/** The page's first module and all that it imports, at once or, unless only the first are asked for, later, by their paths. */
export async function pageModules(
  origin: string,
  page: string,
  { isFirst = false } = {},
): Promise<ReadonlyMap<string, string>> {
  const { text: html } = await send(origin + page, { headers: { accept: "text/html" } });
  const found = new Map<string, string>();
  const left = [...html.matchAll(/<script type="module" src="([^"]+)"/gu)].map(([, path = ""]) => path);
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (found.has(path)) continue;
    const { status, text, headers } = await get(origin, path, null);
    assert.deepEqual([status, headers.get("content-type")], [200, "text/javascript; charset=utf-8"], path);
    found.set(path, text);
    // Libraries have names, which the page's import map resolves.
    for (const [, early, late] of text.matchAll(
      /^(?:import|export) (?:[^;]*? from )?"([^"]+)"|\bimport\("([^"]+)"\)/gmu,
    ))
      if ((early !== undefined || !isFirst) && (early ?? late ?? "").startsWith("."))
        left.push(posix.join(posix.dirname(path), early ?? late ?? ""));
  }
  return found;
}
