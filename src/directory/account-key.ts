// The name of a stored account, and of a model on it, in circuits, deletions and metrics.
import type { AccountKey } from "../routing/types.ts";

export function accountKey(scope: string, connection: string): AccountKey {
  return `${scope}/${connection}`;
}

/** A model on an account; null: the account with all of its models. */
export function placeKey(account: AccountKey, model: string | null): string {
  return model === null ? account : `${account}/${model}`;
}

/** Whether a model's key is of this place, which is an account or that very model. */
export function isWithin(place: string): (key: string) => boolean {
  const { scope, connection, model } = partsOfKey(place);
  const account = `${accountKey(scope, connection)}/`;
  return (key) => (model === "" ? key.startsWith(account) : key === place);
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
