// Fails if a rule of docs/reference is defined twice, has no test, or is cited without a definition.
import { readCitations, readRules } from "./rules.ts";

const rules = readRules();
const citations = readCitations();
const known = new Set(rules.map(({ id }) => id));
const tested = new Set(citations.filter(({ title }) => title !== null).map(({ id }) => id));
const faults = [
  ...rules
    .filter(({ id }, index) => rules.findIndex((each) => each.id === id) < index)
    .map(({ id, page }) => `${page}: ${id} is defined twice`),
  ...citations.filter(({ id }) => !known.has(id)).map(({ id, file }) => `${file}: there is no rule ${id}`),
  ...rules.filter(({ id }) => !tested.has(id)).map(({ id, page }) => `${page}: ${id} has no test`),
];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`rules: ${rules.length}, each with a test; ${citations.length} citations`);
