// Something of ours about an object that is not ours. A WeakMap would do, but its entries are roots to the collector of young objects: what
// an entry of each request holds outlives its request, is copied and lands among the old (docs/measurements.md).

export interface Note<Holder extends object, Value> {
  get(holder: Holder): Value | undefined;
  set(holder: Holder, value: Value): void;
}

/** Kept on the holder itself, under a symbol that nobody else has; `name` is for whoever looks at it in a debugger. */
export function createNote<Holder extends object, Value>(name: string): Note<Holder, Value> {
  const key = Symbol(name);
  type Noted = Holder & { [key]?: Value };
  return {
    get: (holder) => (holder as Noted)[key],
    set: (holder, value) => {
      (holder as Noted)[key] = value;
    },
  };
}
