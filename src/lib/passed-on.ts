// A stream passed on, one for one. No generator: a piece of a provider's answer passes enough of them, and each costs turns.

export interface Passing<In, Out> {
  readonly each: (item: In) => Out;
  /** Instead of what the source failed with. */
  readonly failed?: (error: unknown) => never;
}

export function passedOn<In, Out>(
  source: AsyncIterable<In>,
  { each, failed = rethrow }: Passing<In, Out>,
): AsyncIterable<Out> {
  return {
    [Symbol.asyncIterator]: () => {
      const items = source[Symbol.asyncIterator]();
      return {
        next: async () => {
          const { done, value } = await items.next().catch(failed);
          return done === true ? { done, value: undefined } : { done: false, value: each(value) };
        },
        return: async () => {
          await items.return?.().catch(failed);
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function rethrow(error: unknown): never {
  throw error;
}
