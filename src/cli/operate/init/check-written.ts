// Checks a configuration that was just written as `patchbay config validate` does, with a placeholder for each variable that is not set yet.
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import type { Terminal } from "../../terminal.ts";

export interface WrittenCheck {
  /** One line each. Empty: the file is valid. */
  readonly faults: readonly string[];
  /** Variables to set before a start. */
  readonly missing: readonly string[];
}

/** `variables`: the text of the file of variables, whose values are examples. */
export async function checkWritten(path: string, variables: string | null, terminal: Terminal): Promise<WrittenCheck> {
  // Loaded here, because no other command of this module needs the schema.
  const [{ loadConfiguration }, { formatFault }] = await Promise.all([
    import("../../../config/load-configuration.ts"),
    import("../../../config/fault.ts"),
  ]);
  const required = [...(variables ?? "").matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gmu)].map(
    ([, name = "", example = ""]) => [name, example === "" ? placeholderFor(name) : example] as const,
  );
  const missing = required.map(([name]) => name).filter((name) => (terminal.env[name] ?? "") === "");
  const examples = Object.fromEntries(required.filter(([name]) => missing.includes(name)));
  const loaded = loadConfiguration({ file: path, env: { ...terminal.env, ...examples }, cwd: dirname(path) });
  return { faults: loaded.ok ? [] : loaded.faults.map(formatFault), missing };
}

/** Has the form of a secret, and is different for each variable. */
function placeholderFor(name: string): string {
  return createHash("sha256").update(name).digest("base64");
}
