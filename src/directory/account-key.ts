// How a stored account is named wherever one is meant, and a model on it: in circuits, deletions, metrics (contract 10; reliability 7).
import type { AccountKey } from "../routing/types.ts";

export function accountKey(scope: string, connection: string): AccountKey {
  return `${scope}/${connection}`;
}

/** Of an account's key, or of one with a model behind it: only a model has slashes of its own. */
export function partsOfKey(key: string): {
  readonly scope: string;
  readonly connection: string;
  readonly model: string;
} {
  const [scope = "", connection = "", ...model] = key.split("/");
  return { scope, connection, model: model.join("/") };
}
