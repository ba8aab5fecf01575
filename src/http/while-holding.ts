// Resources that last as long as an answer that is sent piece by piece: the request counts as running until its last event.
export async function* whileHolding<T>(resources: AsyncDisposableStack, items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } finally {
    await resources.disposeAsync();
  }
}
