// The examples of an operation in the API reference: its request as a command, and its answer.
import { NOT_SEARCHED } from "./not-searched.ts";
import type { Body, Operation } from "./reference-document.ts";

/** The request as a command, the same body in another form, and the answer. */
export function exampleParts(operation: Operation): readonly string[] {
  const [sample] = operation["x-codeSamples"] ?? [];
  if (sample === undefined) return [];
  const [, ...otherBodies] = examplesIn(operation.requestBody);
  // A job's submission is answered 202, and 200 only for a dry run.
  const [status, answer] = Object.entries(operation.responses).findLast(
    ([code, each]) => code < "300" && !("$ref" in each) && examplesIn(each).length > 0,
  ) ?? ["", undefined];
  const answers = answer === undefined || "$ref" in answer ? [] : examplesIn(answer).slice(0, 1);
  return [
    "### Example",
    `\`\`\`sh ${NOT_SEARCHED}\n${sample.source}\n\`\`\``,
    ...otherBodies.flatMap(([type, example]) => [`Or as \`${type}\`:`, exampleBlock(example)]),
    ...answers.flatMap(([type, example]) => [`Answer ${status}, \`${type}\`:`, exampleBlock(example)]),
  ];
}

/** In the order of the command: a form comes first, because files are sent so. */
function examplesIn(part: Body | undefined): readonly (readonly [type: string, example: unknown])[] {
  return Object.entries(part?.content ?? {})
    .flatMap(([type, { example }]) => (example === undefined ? [] : [[type, example] as const]))
    .toSorted(([left], [right]) => Number(right.startsWith("multipart/")) - Number(left.startsWith("multipart/")));
}

/** Not searched: other operations have the same words. */
function exampleBlock(example: unknown): string {
  return typeof example === "string"
    ? `\`\`\`text ${NOT_SEARCHED}\n${example.trimEnd()}\n\`\`\``
    : `\`\`\`json ${NOT_SEARCHED}\n${JSON.stringify(example, null, 2)}\n\`\`\``;
}

/** A request that the gateway sends: headers and body as they arrive. */
export function deliveredExample({ parameters = [], requestBody }: Operation): string {
  const headers = parameters.flatMap((each) =>
    "$ref" in each || each.example === undefined ? [] : [`${each.name}: ${each.example}`],
  );
  const [delivered] = Object.values(requestBody?.content ?? {});
  return `\`\`\`http ${NOT_SEARCHED}\n${headers.join("\n")}\n\n${JSON.stringify(delivered?.example)}\n\`\`\``;
}
