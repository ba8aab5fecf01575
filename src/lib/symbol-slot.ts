// Stores a value on an object of another library under a private symbol. Not a WeakMap: the young-generation collector treats its entries as roots, so
// that per-request values are promoted to the old generation (docs/decisions/0034-per-request-state-in-symbol-slots.md).

export interface SymbolSlot<Holder extends object, Value> {
  get(holder: Holder): Value | undefined;
  set(holder: Holder, value: Value): void;
}

/** `name` is shown by debuggers. */
export function createSymbolSlot<Holder extends object, Value>(name: string): SymbolSlot<Holder, Value> {
  const key = Symbol(name);
  type Noted = Holder & { [key]?: Value };
  return {
    get: (holder) => (holder as Noted)[key],
    set: (holder, value) => {
      (holder as Noted)[key] = value;
    },
  };
}
