// Generates docs/formats.md: sends every recording of the fixtures to the real endpoint and compares it with an independent tool [measuring.true-length].
// test/http/formats.test.ts fails if the page is out of date.
import { writeFile } from "node:fs/promises";
import { formatsPage } from "../test/http/formats-page.ts";
import { runFormats } from "../test/http/formats-table.ts";

await writeFile(new URL("../docs/formats.md", import.meta.url), formatsPage(await runFormats()));
console.log("wrote docs/formats.md");
