// Fails if a link in a Markdown file of the repository leads nowhere, or if a page of the documentation is not in its index.
import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { ENDPOINTS } from "../src/contract/endpoints/endpoints.ts";
import { createDocumentation } from "../src/http/pages/docs/documentation.ts";
import { brokenLinks, linksIn, missingPaths } from "./links.ts";

const FILES = globSync("**/*.md", { exclude: ["**/node_modules/**", "dist/**", "data/**"] }).toSorted();
const INDEX = "docs/index.md";
/** Pages that the index has to list. Decisions have an index of their own. */
const INDEXED = globSync(["docs/*.md", "docs/guides/*.md"], { exclude: [INDEX] }).toSorted();

/** Of today. Decisions and the changelog name files as they were. */
const PRESENT = FILES.filter(
  (file) => !/^docs\/decisions\/|^CHANGELOG\.md$|^docs\/reference\/coverage\.md$/u.test(file),
);

const documentation = createDocumentation(process.cwd());
const pages = new Map<string, string>();
for (const { path } of await documentation.list()) pages.set(path, (await documentation.render(path))?.html ?? "");
const paths = new Set(ENDPOINTS.filter(({ method }) => method === "GET").map(({ path }) => path));
const isServed = (target: string): boolean => {
  const [path = "", fragment] = target.split("#");
  const html = pages.get(path);
  if (html === undefined) return paths.has(path) && fragment === undefined;
  return fragment === undefined || html.includes(` id="${fragment}"`);
};

const listed = new Set(linksIn(readFileSync(INDEX, "utf8")).map((target) => `docs/${target.split("#")[0]}`));
const faults = [
  ...brokenLinks(FILES, { root: process.cwd(), isServed }).map(
    ({ file, target }) => `${file}: ${target} leads nowhere`,
  ),
  ...PRESENT.flatMap((file) =>
    missingPaths(readFileSync(file, "utf8"), [".", dirname(file)]).map((path) => `${file}: there is no ${path}`),
  ),
  ...INDEXED.filter((page) => !listed.has(page)).map((page) => `${INDEX} does not list ${page}`),
];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`links: ${FILES.length} files`);
