// Words that stand for secrets, and where they turned up again: as they are, in hexadecimal, or in base64 at any offset.
import { randomBytes } from "node:crypto";

export interface Canary {
  readonly kind: string;
  readonly text: string;
}

export interface Canaries {
  /** A new one. Letters, digits and dashes: whatever escapes it leaves it as it is. */
  make(kind: string): string;
  /** One that was created elsewhere. */
  add(kind: string, text: string): void;
  all(): readonly Canary[];
  /** Those that are in there, by kind and the form they were found in. */
  findIn(bytes: Buffer | string): readonly string[];
}

export function createCanaries(): Canaries {
  const canaries: Canary[] = [];
  const add = (kind: string, text: string): void => void canaries.push({ kind, text });
  return {
    make: (kind) => {
      const text = `hush-${kind}-${randomBytes(9).toString("hex")}`;
      add(kind, text);
      return text;
    },
    add,
    all: () => canaries,
    findIn: (where) => {
      const bytes = Buffer.isBuffer(where) ? where : Buffer.from(where);
      const needles = canaries.flatMap(({ kind, text }) =>
        formsOf(text).map(({ form, needle }) => ({ label: `${kind} ${form}`, needle: Buffer.from(needle) })),
      );
      // Most begin alike: what is searched may be large, and is read once for each beginning.
      const alike = Map.groupBy(needles, ({ needle }) => needle.toString("latin1", 0, BEGINNING_BYTES));
      const found = new Set<string>();
      for (const [beginning, group] of alike)
        for (let at = bytes.indexOf(beginning, 0, "latin1"); at !== -1; at = bytes.indexOf(beginning, at + 1, "latin1"))
          for (const { label, needle } of group)
            if (bytes.subarray(at, at + needle.length).equals(needle)) found.add(label);
      return [...found];
    },
  };
}

const BEGINNING_BYTES = 5;

function formsOf(text: string): readonly { readonly form: string; readonly needle: string }[] {
  const bytes = Buffer.from(text);
  // Cut so that what is left encodes alike whatever comes before and after it.
  const base64 = [0, 1, 2].map((skip) => {
    const inner = bytes.subarray(skip, skip + Math.floor((bytes.length - skip) / 3) * 3);
    return { form: "in base64", needle: inner.toString("base64") };
  });
  return [{ form: "as it is", needle: text }, { form: "in hexadecimal", needle: bytes.toString("hex") }, ...base64];
}
