// Generates docs/configuration.md from the schema of the file: name, type, default and description of every setting.
import { type JsonSchema, settingsSchema } from "../src/config/json-schema.ts";

const INTRODUCTION = `# Configuration

Generated from the schema of the settings; do not edit.

Patchbay reads the file named by \`--config\`, else by \`PATCHBAY_CONFIG\`, else \`patchbay.yaml\` in the working directory.
Without any of them it runs on the provider keys in the environment, else on the sandbox; a file that names no workspaces is
added to the same way, as long as the database has none. A start that finds no operator's key creates one in \`data_dir\`. \`patchbay config validate\` reports
all faults of a file at once (exit code 9), \`patchbay config print\` shows what counts, and \`patchbay config schema\` prints
a JSON Schema for editors. \`patchbay.example.yaml\` is an annotated example.

Four variables count whenever their setting is not set: \`DATABASE_URL\` (\`storage.database_url\`) and
\`PATCHBAY_MIGRATE_URL\` (\`storage.migrate_url\`), and with a server database \`PATCHBAY_KEY_PEPPER\` (\`secrets.key_pepper\`) and
\`PATCHBAY_ENCRYPTION_KEY\` (\`secrets.encryption_keys\`).

Values may hold \`\${env:NAME}\`, \`\${env:NAME:-default}\` and \`\${file:PATH}\` (from the directory of the file); \`$\${\` is
\`\${\` itself. A variable that is empty counts as not set, a file that is empty is a fault. \`null\` means
none where there may be none (\`server.admin\`, \`plan\`, \`default_purpose\`); elsewhere a key with nothing behind it is a fault.
`;

export function configurationPage(): string {
  const schema = settingsSchema();
  const headings: Written = new Map();
  const sections = Object.entries(schema.properties ?? {}).flatMap(([name, section]) =>
    sectionText(name, section, headings),
  );
  return `${INTRODUCTION}\n${sections.join("\n")}`;
}

/** Tables already written, with their heading: a shape used in several places is described once. */
type Written = Map<string, string>;

/** A heading with a table of the settings that have a value, then a heading for each nested section. */
function sectionText(path: string, schema: JsonSchema, headings: Written): readonly string[] {
  const tables = shapesOf(schema).map(({ shape, suffix }) => ({ place: `${path}${suffix}`, shape }));
  const first = tables[0];
  if (first === undefined)
    return [
      `## ${path}\n\n${schema.description ?? ""}\n\n| Setting | Type | Default | Meaning |\n|---|---|---|---|\n${row(path, schema, false)}\n`,
    ];
  return tables.flatMap(({ place, shape }, index) => {
    const shapeText = JSON.stringify(shape);
    const same = headings.get(shapeText);
    if (same !== undefined) return [`## ${place}\n\n${schema.description ?? ""} The same settings as \`${same}\`.\n`];
    headings.set(shapeText, place);
    const members = Object.entries(shape.properties ?? {});
    const rows = members.map(([name, member]) => row(name, member, shape.required?.includes(name) === true)).join("\n");
    const doc = index === 0 && schema.description !== undefined ? `${schema.description}\n\n` : "";
    const head = `## ${place}\n\n${doc}| Setting | Type | Default | Meaning |\n|---|---|---|---|\n${rows}\n`;
    const nested = members.flatMap(([name, member]) =>
      shapesOf(member).length > 0 ? sectionText(`${place}.${name}`, member, headings) : [],
    );
    return [head, ...nested];
  });
}

/** The object schemas of a setting: itself, the entries of a list or map, or one of several kinds. */
function shapesOf(schema: JsonSchema): readonly { readonly shape: JsonSchema; readonly suffix: string }[] {
  if (schema.properties !== undefined) return [{ shape: schema, suffix: "" }];
  if (schema.items?.properties !== undefined) return [{ shape: schema.items, suffix: "[]" }];
  if (typeof schema.additionalProperties === "object" && schema.additionalProperties.properties !== undefined)
    return [{ shape: schema.additionalProperties, suffix: ".<name>" }];
  return (schema.anyOf ?? schema.oneOf ?? [])
    .filter((option) => option.properties !== undefined)
    .map((shape) => ({ shape, suffix: kindOf(shape) }));
}

function kindOf(shape: JsonSchema): string {
  const kind = shape.properties?.["kind"]?.const;
  return kind === undefined ? "" : ` (kind: ${JSON.stringify(kind)})`;
}

function row(name: string, schema: JsonSchema, isRequired: boolean): string {
  const marks = schema.writeOnly === true ? " Secret." : "";
  const fallback = isRequired ? "required" : defaultText(schema);
  return `| \`${name}\` | ${cell(typeText(schema))} | ${cell(fallback)} | ${cell((schema.description ?? "") + marks)} |`;
}

function defaultText(schema: JsonSchema): string {
  const isEmptyMap = typeof schema.default === "object" && schema.default !== null && shapesOf(schema).length > 0;
  if (schema.default === undefined || schema.default === null || isEmptyMap) return "";
  return `\`${JSON.stringify(schema.default)}\``;
}

function typeText(schema: JsonSchema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined)
    return [...new Set(options.filter((option) => option.type !== "null").map(typeText))].join(" or ");
  const types = (typeof schema.type === "string" ? [schema.type] : (schema.type ?? [])).filter(
    (type) => type !== "null",
  );
  if (types[0] === "array") return `list of ${schema.items === undefined ? "anything" : typeText(schema.items)}`;
  if (types[0] === "object") return "map";
  return `${types.join(" or ")}${range(schema)}`;
}

/** JSON's own limits of integers are omitted. */
function range(schema: JsonSchema): string {
  const low = schema.minimum;
  const high = schema.maximum === Number.MAX_SAFE_INTEGER ? undefined : schema.maximum;
  if (low !== undefined && high !== undefined) return ` ${low}–${high}`;
  if (low !== undefined) return ` from ${low}`;
  return high === undefined ? "" : ` up to ${high}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
