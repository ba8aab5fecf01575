// docs/formats.md: every recording of the fixtures through the real endpoint, measured against an independent tool
// [measuring.true-length]. Writes the page; test/http/formats.test.ts fails when it is out of date.
import { writeFile } from "node:fs/promises";
import { formatsPage } from "../test/http/formats-page.ts";
import { runFormats } from "../test/http/formats-table.ts";

await writeFile(new URL("../docs/formats.md", import.meta.url), formatsPage(await runFormats()));
console.log("wrote docs/formats.md");
