// The link check of all Markdown files (scripts/check-links.ts), on a repository with broken links.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { brokenLinks, missingPaths } from "../../scripts/links.ts";

test("guides.links: links to missing files, headings, images and served pages are broken; others are not", (t) => {
  const root = mkdtempSync(join(tmpdir(), "patchbay-links-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "docs"));
  writeFileSync(
    join(root, "docs/other.md"),
    "# Other page\n\n## Two words, and more\n\n## CODE_OF_AN_ERROR\n\n| rule | what |\n|---|---|\n| `some.rule` | text |\n",
  );
  const right = [
    "[a](docs/other.md)",
    "[a](docs/other.md#two-words-and-more)",
    "[a](docs/other.md#CODE_OF_AN_ERROR)",
    "[a](docs/other.md#some.rule)",
    "[a](#own-heading)",
    "[a](docs)",
    "[a](/docs/served#here)",
    "[a](https://example.com/missing)",
    "<http://127.0.0.1:8080>",
    '<img src="docs/other.md">',
  ];
  const wrong = [
    ["[a](docs/missing.md)", "docs/missing.md"],
    ["[a](docs/other.md#missing)", "docs/other.md#missing"],
    ["[a](#missing)", "#missing"],
    ["[a](/docs/unknown)", "/docs/unknown"],
    ["![a](missing.png)", "missing.png"],
    ['<img src="missing.png">', "missing.png"],
    ['<source media="all" srcset="missing-dark.png">', "missing-dark.png"],
  ] as const;
  const page = ["# Own heading", ...right, ...wrong.map(([markdown]) => markdown), "`[a](missing.md)`"].join("\n\n");
  writeFileSync(join(root, "README.md"), page);
  const broken = brokenLinks(["README.md", "docs/other.md"], {
    root,
    isServed: (target) => target === "/docs/served#here",
  });
  assert.deepEqual(
    missingPaths("`docs/other.md` `docs/` `docs/gone.md` `src/captions/vtt` `src/*.ts` `other/none.md` `text/vtt`", [
      root,
    ]),
    ["docs/gone.md", "src/captions/vtt"],
  );
  assert.deepEqual(
    broken.map(({ target }) => target),
    wrong.map(([, target]) => target),
  );
});
