// The recorded examples of the OpenAPI documents: reads and writes them, one operation a line.
import { readFileSync, writeFileSync } from "node:fs";
import type { OperationExamples } from "../src/http/pages/openapi-examples.ts";

const FILE = new URL("../src/contract/endpoints/examples.json", import.meta.url);

export function readExamples(): OperationExamples {
  return JSON.parse(readFileSync(FILE, "utf8")) as OperationExamples;
}

export function writeExamples(examples: OperationExamples): void {
  const lines = Object.entries(examples)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map((entry) => entry.map((part) => JSON.stringify(part)).join(": "));
  writeFileSync(FILE, `{\n${lines.join(",\n")}\n}\n`);
}
