// Builds and parses the keys of provider accounts, and of models on them, in circuits, deletions and metrics.
import type { AccountKey } from "../routing/types.ts";

export function accountKey(scope: string, connection: string): AccountKey {
  return `${scope}/${connection}`;
}

/** The key of a model on an account. Null: of the account with all of its models. */
export function placeKey(account: AccountKey, model: string | null): string {
  return model === null ? account : `${account}/${model}`;
}

/** Returns whether a model's key belongs to this place, which is an account or that very model. */
export function isWithin(place: string): (key: string) => boolean {
  const { scope, connection, model } = partsOfKey(place);
  const account = `${accountKey(scope, connection)}/`;
  return (key) => (model === "" ? key.startsWith(account) : key === place);
}

/** Splits the key of an account or a model. Only a model's name contains slashes. */
export function partsOfKey(key: string): {
  readonly scope: string;
  readonly connection: string;
  readonly model: string;
} {
  const [scope = "", connection = "", ...model] = key.split("/");
  return { scope, connection, model: model.join("/") };
}
