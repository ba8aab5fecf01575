// Maps an async iterable item by item. Not an async generator, because each one adds microtasks to every chunk of a provider's stream.

export interface AsyncIterableMapping<In, Out> {
  readonly each: (item: In) => Out;
  /** Throws the error to fail with instead of the source's. */
  readonly mapError?: (error: unknown) => never;
}

export function mapAsyncIterable<In, Out>(
  source: AsyncIterable<In>,
  { each, mapError = rethrow }: AsyncIterableMapping<In, Out>,
): AsyncIterable<Out> {
  return {
    [Symbol.asyncIterator]: () => {
      const items = source[Symbol.asyncIterator]();
      return {
        next: async () => {
          const { done, value } = await items.next().catch(mapError);
          return done === true ? { done, value: undefined } : { done: false, value: each(value) };
        },
        return: async () => {
          await items.return?.().catch(mapError);
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function rethrow(error: unknown): never {
  throw error;
}
